import { unlessAborted, type Call, type RequestOptions, type CallRequest } from './call.js';
import { isObject } from './parse-response.js';
import { IssuerError, ProblemError } from './call-errors.js';

export interface ClientCredentials {
  readonly tokenEndpoint: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Scopes to request, separated by spaces; default: those that the issuer chooses. */
  readonly scope?: string;
  /** How the issuer takes id and secret: HTTP Basic, or fields of the form; default `client_secret_basic` (RFC 6749 §2.3.1). */
  readonly clientAuthentication?: 'client_secret_basic' | 'client_secret_post';
  /** Further fields of the form, such as `audience` or `resource`. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** Returns a valid access token. Requests a new one only when the last one is about to expire. */
export type TokenSource = (options?: RequestOptions) => Promise<string>;

/** A token is renewed when a tenth of its lifetime is left. */
const RENEW_SHARE = 0.9;
/** Lifetime of a token without `expires_in`, in seconds. */
const DEFAULT_LIFETIME_S = 60;

function parseToken(body: unknown, now: number) {
  if (!isObject(body)) return undefined;
  const { access_token: value, expires_in: given } = body;
  if (typeof value !== 'string') return undefined;
  // Some issuers send the number as text.
  const lifetimeS = Number(given) || DEFAULT_LIFETIME_S;
  return { value, renewAt: now + lifetimeS * 1_000 * RENEW_SHARE };
}

type Token = NonNullable<ReturnType<typeof parseToken>>;

/** The parts of a token request (RFC 6749 §4.4.2). Basic has id and secret encoded as a form has them (§2.3.1). */
function tokenRequest(credentials: ClientCredentials) {
  const { clientId, clientSecret, scope, clientAuthentication, parameters } = credentials;
  const form = { ...parameters, grant_type: 'client_credentials', ...(scope !== undefined && { scope }) };
  if (clientAuthentication === 'client_secret_post')
    return { data: new URLSearchParams({ ...form, client_id: clientId, client_secret: clientSecret }) };
  const basic = btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`);
  return { data: new URLSearchParams(form), headers: { authorization: `Basic ${basic}` } };
}

/** Creates a token source for OAuth 2.0 client credentials (RFC 6749 §4.4). Concurrent callers share one request. */
export function createTokenSource(
  credentials: ClientCredentials,
  call: Call,
): { readonly token: TokenSource; readonly forget: (value: string) => void } {
  const { tokenEndpoint: url } = credentials;
  let known: Token | undefined;
  let pending: Promise<Token> | undefined;
  const request = async (): Promise<Token> => {
    const now = Date.now();
    const parse = (body: unknown) => parseToken(body, now);
    known = await call({ method: 'POST', url, ...tokenRequest(credentials), parse }).catch(
      (error: unknown) => {
        throw error instanceof ProblemError ? new IssuerError(error.problem, new URL(url).origin) : error;
      },
    );
    return known;
  };
  return {
    token: async (options) => {
      options?.signal?.throwIfAborted();
      if (known && Date.now() < known.renewAt) return known.value;
      pending ??= request().finally(() => (pending = undefined));
      return (await unlessAborted(pending, options?.signal)).value;
    },
    forget: (value) => {
      if (known?.value === value) known = undefined;
    },
  };
}

/** A call of one service with a token of this client. */
export type AuthorizedCall = <T>(request: Omit<CallRequest<T>, 'baseURL'>) => Promise<T>;

/**
 * Adds the token and the base URL to calls. After a 401, which means that nothing was done, the token is renewed and the request sent once
 * more.
 */
export function authorizeCalls(
  call: Call,
  { token, forget }: ReturnType<typeof createTokenSource>,
  baseURL: string,
): AuthorizedCall {
  return async (request) => {
    const send = (value: string) =>
      call({ ...request, baseURL, headers: { ...request.headers, authorization: `Bearer ${value}` } });
    const first = await token(request.options);
    try {
      return await send(first);
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 401) throw error;
      forget(first);
      return send(await token(request.options));
    }
  };
}
