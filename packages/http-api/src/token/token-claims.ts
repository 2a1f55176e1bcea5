import type { JWTHeaderParameters, JWTPayload, JWTVerifyResult } from 'jose';
import { MAX_SHOWN, shown, type Fault } from './token-faults.js';
import type { TokenShape } from './token-profiles.js';

/** What this service expects of tokens. */
export interface ExpectedToken {
  /** The exact value of `iss`. */
  readonly issuer: string;
  readonly audience: string;
  /** Longest accepted lifetime (`exp` − `iat`). */
  readonly maxTokenLifetimeSeconds: number;
  readonly tokenShape: TokenShape;
}

/** Accepted difference between the clocks of the issuer and this machine. */
export const CLOCK_TOLERANCE_SECONDS = 5;

const own = (of: unknown, name: string): unknown => Object.getOwnPropertyDescriptor(Object(of), name)?.value;
const unescaped = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~');

/** Returns the value of a claim, by its name or a JSON pointer (RFC 6901). */
function claimAt(payload: JWTPayload, place: string): unknown {
  const path = place.startsWith('/') ? place.slice(1).split('/').map(unescaped) : [place];
  return path.reduce<unknown>(own, payload);
}

const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Returns the values of a claim: the words of a text, or with `[]` after its name the texts of a list. */
function valuesAt(payload: JWTPayload, place: string): readonly string[] {
  const value = claimAt(payload, place.replace(/\[\]$/, ''));
  if (!place.endsWith('[]')) return asText(value)?.split(' ') ?? [];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Returns a scope without the prefix of the audience. Entra may put `api://` before that. */
function withoutPrefix(scope: string, audience: string): string | undefined {
  const prefix = [`${audience}/`, `api://${audience}/`].find((known) => scope.startsWith(known));
  return prefix === undefined ? undefined : scope.slice(prefix.length);
}

function scopesOf(payload: JWTPayload, { tokenShape: shape, audience }: ExpectedToken): ReadonlySet<string> {
  const values = shape.scopes.flatMap((place) =>
    valuesAt(payload, place).flatMap((value) => {
      const own = withoutPrefix(value, audience);
      if (place === shape.audience) return own ?? [];
      // Roles come in lists; the scopes of a text are those that the client requested.
      const ofRole = place.endsWith('[]') ? shape.scopesByRole.get(value) : undefined;
      return [own ?? value, ...(ofRole ?? [])];
    }),
  );
  return new Set(values);
}

function hasAudience(payload: JWTPayload, { tokenShape: shape, audience }: ExpectedToken): boolean {
  const isIn = (place: string): boolean => [claimAt(payload, place)].flat().includes(audience);
  if (!shape.scopes.includes(shape.audience)) return isIn(shape.audience);
  const hasPrefix = valuesAt(payload, shape.audience).some((scope) => withoutPrefix(scope, audience));
  return hasPrefix && (payload.aud === undefined || isIn('aud'));
}

/** Returns the header `typ` as in `TokenShape.types` (RFC 7515 §4.1.9). */
const typeOf = ({ typ }: JWTHeaderParameters): string =>
  typ === undefined ? 'none' : typ.toLowerCase().replace(/^application\//, '');

/**
 * Whether a token has a mark of ID tokens: of Keycloak (`typ`), of Cognito (`token_use`) or of OpenID Connect Core §2. A
 * `nonce` is none where access tokens have a mark of their own, such as `typ=Bearer`.
 */
function isIdToken(
  { typ, token_use: use, nonce, at_hash: hash }: JWTPayload,
  { required }: TokenShape,
): boolean {
  const hasOwnMark = required.some((requirement) => requirement.includes('='));
  return typ === 'ID' || use === 'id' || (nonce !== undefined && !hasOwnMark) || hash !== undefined;
}

function isMet(payload: JWTPayload, requirement: string): boolean {
  const [place = '', expected] = requirement.split('=');
  const value = claimAt(payload, place);
  return expected === undefined ? value !== undefined : value === expected;
}

const isSafe = (time: number): boolean => Math.abs(time) <= Number.MAX_SAFE_INTEGER;

/** Checks the values of `exp` and `iat` (RFC 9068 §2.2). jose checks that both are numbers, and `exp`. */
function lifetimeFault({ exp, iat }: JWTPayload, maxSeconds: number): Fault | undefined {
  const [issued, expires] = [Number(iat), Number(exp)];
  // NumericDate may have a fraction (RFC 7519 §2).
  if (!isSafe(issued) || !isSafe(expires)) return 'claim';
  if (expires - issued > maxSeconds) return 'lifetime';
  return issued > Date.now() / 1_000 + CLOCK_TOLERANCE_SECONDS ? 'not yet valid' : undefined;
}

/** Returns the fault of a token whose signature, `exp` and `nbf` jose has checked. */
export function faultIn(token: JWTVerifyResult, expected: ExpectedToken): Fault | undefined {
  const { payload } = token;
  const { tokenShape: shape } = expected;
  if (isIdToken(payload, shape)) return 'id token';
  if (!shape.types.includes(typeOf(token.protectedHeader))) return 'type';
  if (payload.iss !== expected.issuer) return 'issuer';
  if (!hasAudience(payload, expected)) return 'audience';
  const isComplete = shape.required.every((requirement) => isMet(payload, requirement));
  if (!isComplete || asText(claimAt(payload, shape.client)) === undefined) return 'claim';
  return lifetimeFault(payload, expected.maxTokenLifetimeSeconds);
}

function personOf(payload: JWTPayload, clientId: string, { person, personMark = person }: TokenShape) {
  const personId = asText(claimAt(payload, person));
  // Auth0 adds `@clients` to a client's id.
  const isClient = personId === clientId || personId === `${clientId}@clients`;
  return isClient || claimAt(payload, personMark) === undefined ? undefined : personId;
}

/** Returns the claims of a token without fault. */
export function toClaims(payload: JWTPayload, expected: ExpectedToken) {
  const { tokenShape: shape } = expected;
  const clientId = asText(claimAt(payload, shape.client)) ?? '';
  return {
    clientId,
    /** The person for whom the client acts; undefined when it acts for itself. */
    personId: personOf(payload, clientId, shape),
    scopes: scopesOf(payload, expected),
    /** Value of the claim of the tenant. */
    tenant: claimAt(payload, shape.tenant),
    /** `exp`, Unix seconds. */
    expiresAt: Number(payload.exp),
  };
}

/** What a verified token says. */
export type TokenClaims = Readonly<ReturnType<typeof toClaims>>;

const secondsFrom = (time: unknown): number => Math.ceil(Math.abs(Number(time) - Date.now() / 1_000));

/** Returns what the log says about a refused token whose signature is valid. */
export function describeRefused(fault: Fault, payload: JWTPayload, expected: ExpectedToken) {
  const { tokenShape: shape, issuer, audience } = expected;
  const advice: Partial<Record<Fault, string>> = {
    type: `expected the header typ ${shape.types.join(' or ')}: check TOKEN_PROFILE`,
    issuer: `iss is ${shown(payload.iss)}, not ${issuer}: check TOKEN_ISSUER`,
    audience: `${shape.audience} is ${shown(claimAt(payload, shape.audience))}: check TOKEN_AUDIENCE, now ${audience}`,
    claim: `expected exp, iat, iss, ${[shape.client, ...shape.required].join(', ')}: check TOKEN_PROFILE`,
    expired: `it expired ${secondsFrom(payload.exp)} s ago: if it is new, check this machine's clock`,
    'not yet valid': `tokens are not yet valid by ${secondsFrom(payload.nbf ?? payload.iat)} s: check this machine's clock`,
  };
  return { clientId: asText(claimAt(payload, shape.client))?.slice(0, MAX_SHOWN), advice: advice[fault] };
}
