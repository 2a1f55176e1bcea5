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
