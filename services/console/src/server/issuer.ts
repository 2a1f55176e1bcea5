import { AppError, createRefusedTokenLog } from '@webhooks/http-api';
import type { TokenVerifier } from '@webhooks/http-api';
import type { Logger } from '@webhooks/runtime';
import * as oidc from 'openid-client';
import type { ConsoleConfig } from '../config.js';

/** How long the issuer may take for one response, seconds. */
const RESPONSE_S = 5;
/** A token is renewed this long before it expires, seconds: longer than a call of a page may take. */
const RENEW_BEFORE_S = 30;

/** A person who is signed in. */
export interface Session {
  claims: Awaited<ReturnType<TokenVerifier['verify']>>;
  accessToken: string;
  refreshToken?: string | undefined;
  /** Names the person at the issuer's sign-out. */
  readonly idToken?: string | undefined;
  /** The renewal under way, which all calls share. */
  renewing?: Promise<void> | undefined;
}

/** What a sign-in needs when the browser comes back; only that browser has it. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

const ended = (cause?: unknown): AppError =>
  new AppError('invalid-token', 'the session has ended: sign in again', { cause });

/** The codes of responses that are not for this sign-in, or no longer valid. */
const INVALID = /^OAUTH_(INVALID_RESPONSE|.*_COMPARISON_FAILED|JWT_TIMESTAMP_CHECK_FAILED)$/;

const unavailable = (cause: unknown): never => {
  throw new AppError('unavailable', 'the token issuer refuses this console, or cannot be reached now', {
    cause,
  });
};

/** Throws 401 when the code or the refresh token is not valid, and 503 for any other fault of the issuer. */
function refuse(cause: unknown): never {
  const isInvalid =
    (cause instanceof oidc.ClientError && INVALID.test(cause.code ?? '')) ||
    (cause instanceof oidc.ResponseBodyError && cause.error === 'invalid_grant');
  if (isInvalid) throw ended(cause);
  return unavailable(cause);
}

/** Creates a function that discovers the issuer's addresses: with the first call, and again after a failure. */
function createDiscovery({
  tokens,
  clientId,
  clientSecret,
}: ConsoleConfig): () => Promise<oidc.Configuration> {
  // TOKEN_ISSUER decides; without TLS it is for development.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const execute = tokens.issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [];
  const discover = (issuer: string) =>
    oidc.discovery(new URL(issuer), clientId, clientSecret, undefined, { timeout: RESPONSE_S, execute });
  let found: Promise<oidc.Configuration> | undefined;
  return () => {
    // The issuer may name itself with or without a slash at its end.
    found ??= discover(tokens.issuer.replace(/\/$/, ''))
      .catch(() => discover(tokens.issuer.replace(/\/?$/, '/')))
      .catch((cause: unknown) => {
        found = undefined;
        return unavailable(cause);
      });
    return found;
  };
}

/** Creates a function that verifies an access token as the services do. It throws 401. */
function createAccept(verifier: TokenVerifier, log: Logger) {
  const logRefused = createRefusedTokenLog(log);
  return async (granted: oidc.TokenEndpointResponse) => {
    const { access_token: accessToken, refresh_token: refreshToken } = granted;
    const claims = await verifier.verify(`Bearer ${accessToken}`).catch((error: unknown) => {
      if (error instanceof AppError) logRefused(error);
      throw error;
    });
    return { claims, accessToken, ...(refreshToken !== undefined && { refreshToken }) };
  };
}

/** Creates the calls of the token issuer, which are those of a confidential client (OpenID Connect Core §3.1, RFC 7636). */
export function createIssuer(config: ConsoleConfig, verifier: TokenVerifier, log: Logger) {
  const { authorization, publicUrl } = config;
  const redirectUri = new URL('/auth/callback', publicUrl).href;
  const discover = createDiscovery(config);
  const accept = createAccept(verifier, log);
  const renew = async (session: Session): Promise<void> => {
    if (session.refreshToken === undefined) throw ended();
    const renewed = await oidc.refreshTokenGrant(await discover(), session.refreshToken).catch(refuse);
    Object.assign(session, await accept(renewed));
  };
  return {
    /** Returns the issuer's page for a sign-in, and what `finish` needs. */
    begin: async (): Promise<{ readonly url: string; readonly pending: PendingSignIn }> => {
      const pending = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        codeVerifier: oidc.randomPKCECodeVerifier(),
      };
      const url = oidc.buildAuthorizationUrl(await discover(), {
        ...Object.fromEntries(new URLSearchParams(authorization)),
        ...{ redirect_uri: redirectUri, state: pending.state, nonce: pending.nonce },
        code_challenge: await oidc.calculatePKCECodeChallenge(pending.codeVerifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, pending };
    },
    /** Exchanges the code of a callback. Throws 401 for a wrong state or nonce, a used code and a refused token. */
    finish: async (query: string, { state, nonce, codeVerifier }: PendingSignIn): Promise<Session> => {
      const expected = { pkceCodeVerifier: codeVerifier, expectedState: state, expectedNonce: nonce };
      const url = new URL(`${redirectUri}${query}`);
      const granted = await oidc.authorizationCodeGrant(await discover(), url, expected).catch(refuse);
      return { ...(await accept(granted)), idToken: granted.id_token };
    },
    /** Returns the access token of a session. One renewal serves all calls. Throws 401 when the issuer refuses it. */
    tokenOf: async (session: Session): Promise<string> => {
      if (Date.now() / 1_000 > session.claims.expiresAt - RENEW_BEFORE_S) {
        session.renewing ??= renew(session).finally(() => (session.renewing = undefined));
        await session.renewing;
      }
      return session.accessToken;
    },
    /** Returns the page that ends the issuer's own session; without one, a page of ours: the first page would sign in again. */
    signOutUrl: async ({ idToken }: Pick<Session, 'idToken'>): Promise<string> => {
      const configuration = await discover();
      if (configuration.serverMetadata().end_session_endpoint === undefined) return '/auth/signed-out';
      const hint = idToken === undefined ? {} : { id_token_hint: idToken };
      const page = { ...hint, post_logout_redirect_uri: publicUrl.href };
      return oidc.buildEndSessionUrl(configuration, page).href;
    },
  };
}

export type Issuer = ReturnType<typeof createIssuer>;
