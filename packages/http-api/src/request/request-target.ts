/** A target in absolute form. A URL parser would encode a foreign host name (IDNA), which takes 10 ms for 15 KB. */
const ABSOLUTE = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?<rest>[/?][^#]*)?$/i;

/**
 * A request target as path and query. The absolute form is taken with any authority, as a server must (RFC 9112 §3.2.2). A target of
 * neither form (`http://`, `*`) becomes `/`, where nothing is: Express would send a page of its own for it.
 */
export function originForm(target: string): string {
  // Express would take an authority out of `//host/path` and cut at `#`, although a proxy in front saw another path.
  if (target.startsWith('/')) return /^\/\/|#/.test(target) ? '/' : target;
  const rest = ABSOLUTE.exec(target)?.groups?.['rest'] ?? '/';
  return rest.startsWith('?') ? `/${rest}` : rest;
}

/** Which paths of the one public address belong to which service; the first match counts. nginx.conf is tested against it. */
const OWNERS: readonly (readonly [pattern: RegExp, service: string])[] = [
  [/^\/integration\/v1\/events$/, 'ingest'],
  [/^\/integration\/v1\/(pix|notifications|webhooks\/(re)?deliveries)(\/|$)/, 'query-api'],
  [/^\/integration\/v1\/webhooks\/[^/]+\/(health|test)$/, 'query-api'],
  [/^\/integration\/v1\/(egress$|webhooks(\/|$))/, 'config-api'],
];

/** The service that a path belongs to; undefined when it belongs to none. */
export const ownerOf = (path: string): string | undefined =>
  OWNERS.find(([pattern]) => pattern.test(path))?.[1];
