import type { Call } from './call.js';

export interface ClientCredentials {
  readonly tokenEndpoint: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Scopes to ask for, separated by spaces; absent: whatever the issuer gives. */
  readonly scope?: string;
}

/** Gives a valid access token, asking the issuer only when the last one is about to expire. */
export type TokenSource = () => Promise<string>;

interface Token {
  readonly value: string;
  readonly renewAt: number;
}

/** A token is renewed when a tenth of its life is left. */
const RENEW_SHARE = 0.9;

/** A token good for `expires_in` seconds from now on, or for a minute when the issuer does not say. */
function parseToken(body: unknown, now: number): Token | undefined {
  if (
    typeof body === 'object' &&
    body !== null &&
    'access_token' in body &&
    typeof body.access_token === 'string'
  ) {
    const lifetime = 'expires_in' in body && typeof body.expires_in === 'number' ? body.expires_in : 60;
    return { value: body.access_token, renewAt: now + lifetime * 1_000 * RENEW_SHARE };
  }
  return undefined;
}

/** OAuth 2.0 client credentials (RFC 6749 §4.4), with HTTP Basic; concurrent callers share one request. */
export function createTokenSource(credentials: ClientCredentials, call: Call): TokenSource {
  const { tokenEndpoint, clientId, clientSecret, scope } = credentials;
  let known: Token | undefined;
  let asking: Promise<Token> | undefined;
  const request = (): Promise<Token> => {
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      ...(scope === undefined ? {} : { scope }),
    });
    const now = Date.now();
    return call({
      method: 'POST',
      url: tokenEndpoint,
      auth: { username: encodeURIComponent(clientId), password: encodeURIComponent(clientSecret) },
      data: form,
      statuses: [200],
      parse: (body) => parseToken(body, now),
    });
  };
  return async () => {
    if (known && Date.now() < known.renewAt) return known.value;
    asking ??= request().finally(() => {
      asking = undefined;
    });
    known = await asking;
    return known.value;
  };
}
