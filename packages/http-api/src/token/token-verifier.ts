import { jwtVerify } from 'jose';
import type { JWTPayload, JWTVerifyResult } from 'jose';
import { LRUCache } from 'lru-cache';
import { AppError } from '../request/app-error.js';
import { FETCH_PAUSE_MS, createIssuerKeys, type KeySource } from './issuer-keys.js';
import { CLOCK_TOLERANCE_SECONDS, describeRefused, faultIn, toClaims } from './token-claims.js';
import type { ExpectedToken, TokenClaims } from './token-claims.js';
import { badToken, faultOf } from './token-faults.js';

export interface TokenVerifierOptions extends KeySource, ExpectedToken {
  /** How long keys are used after they were fetched, in milliseconds; default 24 h. */
  readonly keysMaxAgeMs?: number;
  /** How often the keys are fetched again, in milliseconds; default 5 min. */
  readonly refreshMs?: number;
  /** Called when a background refresh fails; the last good keys stay in use. */
  readonly onRefreshFailed?: (error: unknown) => void;
}

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const MAX_AUTHORIZATION_BYTES = 8_192;
/** Remembered verified tokens, of at most 8 KiB each. */
const REMEMBERED_TOKENS = 1_000;
const BEARER = /^bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;

const noToken = () =>
  new AppError('invalid-token', 'an access token is required', {
    headers: { 'www-authenticate': 'Bearer realm="webhooks"' },
  });

const noKeys = (cause: unknown) =>
  new AppError('keys-unavailable', 'access tokens cannot be checked now', {
    headers: { 'retry-after': '5' },
    cause,
  });

function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) throw noToken();
  if (authorization.length > MAX_AUTHORIZATION_BYTES) throw badToken('malformed');
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) throw badToken('malformed');
  return token;
}

const rememberTokens = () => new LRUCache<string, TokenClaims>({ max: REMEMBERED_TOKENS });

/** Whether a remembered token has expired, by the rule of jose. */
const hasExpired = ({ expiresAt }: TokenClaims): boolean =>
  expiresAt <= Math.floor(Date.now() / 1_000) - CLOCK_TOLERANCE_SECONDS;

/**
 * Creates a verifier of JWT access tokens. It checks the signature by the issuer's key set, and algorithm, issuer,
 * audience, type, claims and times, by the shape of the issuer's tokens. `jku`, `x5u` and `jwk` of a token are never
 * used.
 *
 * Keys are used for 24 h and fetched again in the background, so tokens are accepted while the issuer is unreachable. A
 * verified token is remembered until it expires or the keys are fetched again: a caller sends the same one repeatedly.
 */
export function createTokenVerifier(options: TokenVerifierOptions) {
  const { refreshMs = 300_000, onRefreshFailed = () => undefined, keysMaxAgeMs = 86_400_000 } = options;
  const keys = createIssuerKeys(options, keysMaxAgeMs);
  let verified = rememberTokens();
  let refreshAt = -Infinity;
  const refresh = (): void => {
    // Without keys the service is not ready and gets no requests. So it fetches keys without waiting for a request.
    if (keys.isReady() && performance.now() < refreshAt) return;
    refreshAt = performance.now() + refreshMs;
    // A new cache: tokens whose key was removed are no longer valid. Verifications under way write to the old cache.
    keys.find.reload().then(() => void (verified = rememberTokens()), onRefreshFailed);
  };
  refresh();
  const timer = setInterval(refresh, Math.min(refreshMs, FETCH_PAUSE_MS)).unref();

  const expected = (): ExpectedToken => ({ ...options, issuer: keys.issuer() });

  const verifySignature = async (token: string): Promise<JWTVerifyResult> => {
    try {
      return await jwtVerify(token, keys.find, {
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'iat', 'iss'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
      });
    } catch (error) {
      // With keys at hand, another one that cannot be fetched is an unknown key.
      const fault = faultOf(error) ?? (keys.isReady() ? 'unknown key' : undefined);
      if (fault === undefined || (fault === 'unknown key' && !keys.isReady())) throw noKeys(error);
      // jose adds the payload to an error about it, and checks the signature before.
      const { payload } = error as { readonly payload?: JWTPayload };
      throw badToken(fault, payload && describeRefused(fault, payload, expected()));
    }
  };

  const verifyToken = async (token: string): Promise<TokenClaims> => {
    const signed = await verifySignature(token);
    const fault = faultIn(signed, expected());
    if (fault !== undefined) throw badToken(fault, describeRefused(fault, signed.payload, expected()));
    return toClaims(signed.payload, expected());
  };

  return {
    /**
     * Returns the claims of a token. Throws 401 unless there is one valid bearer token, and 500 while there are no
     * keys.
     */
    verify: async (authorization: string | undefined): Promise<TokenClaims> => {
      const remembered = verified;
      const known = authorization === undefined ? undefined : remembered.get(authorization);
      if (known && !hasExpired(known)) return known;
      const token = bearerToken(authorization);
      const claims = await verifyToken(token);
      // Only the usual spelling is remembered, so that other spellings of one token cannot evict other tokens.
      if (authorization === `Bearer ${token}`) remembered.set(authorization, claims);
      return claims;
    },
    /** Returns whether a key set that has a key was fetched within `keysMaxAgeMs`. */
    isReady: keys.isReady,
    /** How long ago the keys were fetched, milliseconds; Infinity when never. */
    keysAgeMs: keys.ageMs,
    close: () => clearInterval(timer),
  };
}

export type TokenVerifier = ReturnType<typeof createTokenVerifier>;
