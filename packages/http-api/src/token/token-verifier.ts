import { createRemoteJWKSet, customFetch, errors, jwtVerify } from 'jose';
import type { JWTPayload } from 'jose';
import { LRUCache } from 'lru-cache';
import { AppError } from '../request/app-error.js';

/** The claims of a verified token. */
export interface TokenClaims {
  readonly clientId: string;
  readonly scopes: ReadonlySet<string>;
  readonly payload: JWTPayload;
}

export interface TokenVerifierOptions {
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUri: string;
  /** Longest accepted lifetime (`exp` − `iat`), in seconds; default 24 h. */
  readonly maxLifetimeSeconds?: number;
  /** How long keys are used after they were fetched, in milliseconds; default 24 h. */
  readonly keysMaxAgeMs?: number;
  /** How often the keys are fetched again, in milliseconds; default 5 min. */
  readonly refreshMs?: number;
  /** Called when a background refresh fails; the last good keys stay in use. */
  readonly onRefreshFailed?: (error: unknown) => void;
}

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const MAX_AUTHORIZATION_BYTES = 8_192;
const CLOCK_TOLERANCE_SECONDS = 5;
/** Remembered verified tokens, of at most 8 KiB each. */
const REMEMBERED_TOKENS = 1_000;
const BEARER = /^bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;

const noToken = () =>
  new AppError('invalid-token', 'an access token is required', {
    headers: { 'www-authenticate': 'Bearer realm="webhooks"' },
  });

/** Why a token is refused. The texts contain no value of the token. */
const FAULTS = {
  malformed: 'it is not one JWT after the word Bearer',
  type: 'its type is not at+jwt',
  algorithm: 'its algorithm is not allowed',
  'unknown key': 'the issuer has no such key',
  signature: 'its signature is wrong',
  issuer: 'its issuer is another one',
  audience: 'its audience is another one',
  expired: 'it has expired',
  'not yet valid': 'it is not valid yet',
  lifetime: 'it is valid for longer than allowed',
  claim: 'a required claim is missing or has the wrong type',
} as const;
type Fault = keyof typeof FAULTS;

/** Makes a 401 (RFC 6750 §3). `cause`: an error of jose, or `{ payload }` when jose accepted the token. */
const badToken = (fault: Fault, cause?: unknown) =>
  new AppError('invalid-token', `the access token is refused: ${FAULTS[fault]}`, {
    headers: {
      'www-authenticate': `Bearer realm="webhooks", error="invalid_token", error_description="${FAULTS[fault]}"`,
    },
    cause,
  });

const CLAIM_FAULTS: Readonly<Record<string, Fault>> = {
  iss: 'issuer',
  aud: 'audience',
  typ: 'type',
  nbf: 'not yet valid',
};

/** The fault for each error of jose. Other errors are no fault of the token. */
const ERROR_FAULTS: readonly (readonly [kind: abstract new (...args: never[]) => Error, fault: Fault])[] = [
  [errors.JWTExpired, 'expired'],
  [errors.JWSSignatureVerificationFailed, 'signature'],
  [errors.JOSEAlgNotAllowed, 'algorithm'],
  [errors.JWKSNoMatchingKey, 'unknown key'],
  [errors.JWSInvalid, 'malformed'],
  [errors.JWTInvalid, 'malformed'],
  [errors.JOSENotSupported, 'malformed'],
  [errors.JWKSMultipleMatchingKeys, 'unknown key'],
];

/** Returns the fault for an error of jose; undefined when the token is not at fault. */
function faultOf(error: unknown): Fault | undefined {
  if (error instanceof errors.JWTClaimValidationFailed)
    return error.reason === 'missing' ? 'claim' : (CLAIM_FAULTS[error.claim] ?? 'claim');
  return ERROR_FAULTS.find(([kind]) => error instanceof kind)?.[1];
}

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

function toClaims(payload: JWTPayload, maxLifetimeSeconds: number): TokenClaims {
  checkLifetime(payload, maxLifetimeSeconds);
  const clientId = payload['client_id'];
  if (typeof clientId !== 'string') throw badToken('claim');
  const { scope } = payload;
  return { clientId, scopes: new Set(typeof scope === 'string' ? scope.split(' ') : []), payload };
}

const isSafe = (time: number): boolean => Math.abs(time) <= Number.MAX_SAFE_INTEGER;

/** Checks the values of `exp` and `iat` (RFC 9068 §2.2). jose checks only that both are present. */
function checkLifetime(payload: JWTPayload, maxLifetimeSeconds: number): void {
  const { exp, iat } = payload;
  const [issued, expires] = [Number(iat), Number(exp)];
  // NumericDate may have a fraction (RFC 7519 §2).
  if (!isSafe(issued) || !isSafe(expires)) throw badToken('claim', { payload });
  if (expires - issued > maxLifetimeSeconds) throw badToken('lifetime', { payload });
  if (issued > Date.now() / 1_000 + CLOCK_TOLERANCE_SECONDS) throw badToken('not yet valid', { payload });
}

/** Throws for a key set that is not JSON or has no key. The key set that was fetched before then stays in use. */
async function checkKeySet(response: Response): Promise<void> {
  const { keys } = (await response.json()) as { readonly keys?: readonly unknown[] };
  if (!keys?.length) throw new Error('the key set of the issuer has no key');
}

/** Pause after a failed request for the key set. Without it, each token with an unknown key would cause a request. */
const FETCH_PAUSE_MS = 1_000;

function createFetch(): typeof fetch {
  let failedAt = -Infinity;
  return async (url, init) => {
    if (performance.now() - failedAt < FETCH_PAUSE_MS)
      throw new Error('a request for the key set is in flight, or failed less than 1 s ago');
    let isGood = false;
    // Blocks a second request while this one is under way.
    failedAt = Infinity;
    try {
      const response = await fetch(url, init);
      if (response.ok) await checkKeySet(response.clone());
      isGood = response.ok;
      return response;
    } finally {
      failedAt = isGood ? -Infinity : performance.now();
    }
  };
}

const createKeys = (jwksUri: string, cacheMaxAge: number) =>
  createRemoteJWKSet(new URL(jwksUri), {
    cacheMaxAge,
    cooldownDuration: 30_000,
    timeoutDuration: 5_000,
    [customFetch]: createFetch(),
  });

const rememberTokens = () => new LRUCache<string, TokenClaims>({ max: REMEMBERED_TOKENS });

/** Whether a remembered token has expired, by the rule of jose. */
const hasExpired = ({ exp }: JWTPayload): boolean =>
  Number(exp) <= Math.floor(Date.now() / 1_000) - CLOCK_TOLERANCE_SECONDS;

/**
 * Creates a verifier of JWT access tokens (RFC 9068). It checks the signature by the issuer's key set, and algorithm,
 * issuer, audience, type and times. `jku`, `x5u` and `jwk` of a token are never used.
 *
 * Keys are used for 24 h and fetched again in the background, so tokens are accepted while the issuer is unreachable. A
 * verified token is remembered until it expires or the keys are fetched again: a caller sends the same one repeatedly.
 */
export function createTokenVerifier(options: TokenVerifierOptions) {
  const { issuer, audience, maxLifetimeSeconds = 86_400, refreshMs = 300_000 } = options;
  const { onRefreshFailed = () => undefined, keysMaxAgeMs = 86_400_000 } = options;
  const keys = createKeys(options.jwksUri, keysMaxAgeMs);
  let verified = rememberTokens();
  const hasKeys = (): boolean => keys.fresh && (keys.jwks()?.keys.length ?? 0) > 0;
  let refreshAt = -Infinity;
  const refresh = (): void => {
    // Without keys the service is not ready and gets no requests. So it fetches keys without waiting for a request.
    if (hasKeys() && performance.now() < refreshAt) return;
    refreshAt = performance.now() + refreshMs;
    // A new cache: tokens whose key was removed are no longer valid. Verifications under way write to the old cache.
    keys.reload().then(() => void (verified = rememberTokens()), onRefreshFailed);
  };
  refresh();
  const timer = setInterval(refresh, Math.min(refreshMs, FETCH_PAUSE_MS)).unref();

  const verifyToken = async (token: string): Promise<JWTPayload> => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ALGORITHMS,
        issuer,
        audience,
        typ: 'at+jwt',
        requiredClaims: ['exp', 'iat', 'sub', 'client_id', 'jti'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
      });
      return payload;
    } catch (error) {
      const fault = faultOf(error);
      if (fault === undefined || (fault === 'unknown key' && !hasKeys())) throw noKeys(error);
      throw badToken(fault, error);
    }
  };

  return {
    /**
     * Returns the claims of a token. Throws 401 unless there is one valid bearer token, and 500 while there are no
     * keys.
     */
    verify: async (authorization: string | undefined): Promise<TokenClaims> => {
      const remembered = verified;
      const known = authorization === undefined ? undefined : remembered.get(authorization);
      if (known && !hasExpired(known.payload)) return known;
      const token = bearerToken(authorization);
      const claims = toClaims(await verifyToken(token), maxLifetimeSeconds);
      // Only the usual spelling is remembered, so that other spellings of one token cannot evict other tokens.
      if (authorization === `Bearer ${token}`) remembered.set(authorization, claims);
      return claims;
    },
    /** Returns whether a key set that has a key was fetched within `keysMaxAgeMs`. */
    isReady: hasKeys,
    close: () => clearInterval(timer),
  };
}

export type TokenVerifier = ReturnType<typeof createTokenVerifier>;
