/** Without a URL parser: it would encode a foreign host name (IDNA), which takes 10 ms for one of 15 KB. */
const ABSOLUTE = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?<rest>[/?][^#]*)?$/i;

/**
 * A request target as path and query. One in absolute form is taken as any server must (RFC 9112 §3.2.2), whatever authority
 * it names; one that is neither (`http://`, `*`) becomes `/`, where nothing is. Express cannot do it: it answers those
 * with a page of its own before any handler is called.
 */
export function originForm(target: string): string {
  // Express would take an authority out of `//host/path`, and cut at `#`: a proxy in front saw another path.
  if (target.startsWith('/')) return /^\/\/|#/.test(target) ? '/' : target;
  const rest = ABSOLUTE.exec(target)?.groups?.['rest'] ?? '/';
  return rest.startsWith('?') ? `/${rest}` : rest;
}

/** Paths of the APIs behind one public address, in the order in which they are matched. */
const OWNERS: readonly (readonly [pattern: RegExp, service: string])[] = [
  [/^\/integration\/v1\/events$/, 'ingest'],
  [/^\/integration\/v1\/(pix|notifications|webhooks\/(re)?deliveries)(\/|$)/, 'query-api'],
  [/^\/integration\/v1\/webhooks\/[^/]+\/(health|test)$/, 'query-api'],
  [/^\/integration\/v1\/webhooks(\/|$)/, 'config-api'],
];

/** The service that a path belongs to; undefined when it belongs to none. */
export const ownerOf = (path: string): string | undefined =>
  OWNERS.find(([pattern]) => pattern.test(path))?.[1];
