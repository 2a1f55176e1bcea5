/** A target in absolute form. Not parsed as a URL: encoding an international host name (IDNA) takes 10 ms for 15 KB. */
const ABSOLUTE = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?<rest>[/?][^#]*)?$/i;

/**
 * Returns a request target as path and query. The absolute form is accepted with any authority (RFC 9112 §3.2.2). A
 * target of another form (`http://`, `*`) becomes `/`, which has no operation. Express would respond with an HTML page.
 */
export function originForm(target: string): string {
  // Express would drop the authority of `//host/path` and everything after `#`, and serve another path than a proxy in front routed.
  if (target.startsWith('/')) return /^\/\/|#/.test(target) ? '/' : target;
  const rest = ABSOLUTE.exec(target)?.groups?.['rest'] ?? '/';
  return rest.startsWith('?') ? `/${rest}` : rest;
}

/**
 * The service of each path of the one public address; the first match wins. A test compares nginx.conf with this
 * table.
 */
const OWNERS: readonly (readonly [pattern: RegExp, service: string])[] = [
  [/^\/integration\/v1\/events$/, 'ingest'],
  [
    /^\/integration\/v1\/(pix|notifications|statements|webhooks\/(deliveries|redeliveries|overview))(\/|$)/,
    'query-api',
  ],
  [/^\/integration\/v1\/webhooks\/[^/]+\/(health|test)\/?$/, 'query-api'],
  [/^\/integration\/v1\/(egress$|(webhooks|alert-endpoints)(\/|$))/, 'config-api'],
];

/** Returns the service that serves a path; undefined when no service does. */
export const ownerOf = (path: string): string | undefined =>
  OWNERS.find(([pattern]) => pattern.test(path))?.[1];
