const HTTP: ReadonlySet<string> = new Set(['http:', 'https:']);

/**
 * A request target as path and query. One in absolute form is taken as any server must (RFC 9112 §3.2.2), whatever authority
 * it names; one that is neither (`http://`, `*`) becomes `/`, where nothing is. Express cannot do it: it answers those
 * with a page of its own before any handler is called.
 */
export function originForm(target: string): string {
  // Express would take an authority out of `//host/path`, and cut at `#`: a proxy in front saw another path.
  if (target.startsWith('/')) return /^\/\/|#/.test(target) ? '/' : target;
  const url = URL.canParse(target) ? new URL(target) : undefined;
  return url && HTTP.has(url.protocol) ? `${url.pathname}${url.search}` : '/';
}
