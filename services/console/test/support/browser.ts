/** Keeps a cookie; one that has expired is removed. */
function keep(jar: Map<string, string>, cookie: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
  if (value === '' || cookie.includes('Expires=Thu, 01 Jan 1970')) jar.delete(name);
  else jar.set(name, value);
}

/** A browser without scripts: it keeps cookies and follows redirects, at most ten. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** The cookies for a host, such as `localhost`. */
  cookies(host: string): Map<string, string> {
    const known = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, known);
    return known;
  }

  /** Sends one request with the cookies of its host, and keeps the new ones. */
  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const jar = this.cookies(new URL(url).hostname);
    const headers = new Headers(init.headers);
    if (jar.size > 0) headers.set('cookie', [...jar].map((pair) => pair.join('=')).join('; '));
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) keep(jar, cookie);
    return response;
  }

  /** Opens a page and follows redirects; resolves with the last response and its address. */
  async open(url: string): Promise<{ readonly url: string; readonly response: Response }> {
    let at = url;
    for (let step = 0; step < 10; step += 1) {
      const response = await this.send(at);
      const location = response.headers.get('location');
      if (location === null) return { url: at, response };
      at = new URL(location, at).href;
    }
    throw new Error(`too many redirects from ${url}`);
  }
}
