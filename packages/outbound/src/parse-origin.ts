/** Throws when `origin` is no URL, or one with more than scheme, host and port. */
export function parseOrigin(origin: string): URL {
  const url = new URL(origin);
  const rest = url.pathname.slice(1) + url.search + url.hash + url.username + url.password;
  if (rest !== '') throw new Error('expected an origin of scheme, host and port, and nothing more');
  return url;
}
