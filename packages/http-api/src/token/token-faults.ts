import { inspect } from 'node:util';
import { errors } from 'jose';
import { AppError } from '../request/app-error.js';

/** Why a token is refused. The texts contain no value of the token. */
const FAULTS = {
  malformed: 'it is not one JWT after the word Bearer',
  type: 'its type is not allowed',
  algorithm: 'its algorithm is not allowed',
  'unknown key': 'the issuer has no such key',
  signature: 'its signature is wrong',
  'id token': 'it is an ID token and no access token',
  issuer: 'its issuer is another one',
  audience: 'its audience is another one',
  expired: 'it has expired',
  'not yet valid': 'it is not valid yet',
  lifetime: 'it is valid for longer than allowed',
  claim: 'a required claim is missing or has another value',
} as const;
export type Fault = keyof typeof FAULTS;

/** What the log says about a refused token, and the response does not. */
export interface RefusedToken {
  /** The client, when the signature is valid. */
  readonly clientId?: string | undefined;
  /** What was expected, and the setting to check. */
  readonly advice?: string | undefined;
}

/** Characters of a value in a message or log line. */
export const MAX_SHOWN = 200;

/** Returns a value of a token or document as it is shown to the operator. */
export const shown = (value: unknown): string => inspect(value).slice(0, MAX_SHOWN);

/** Makes a 401 (RFC 6750 §3) whose `cause` is for the log. */
export const badToken = (fault: Fault, cause: RefusedToken = {}) =>
  new AppError('invalid-token', `the access token is refused: ${FAULTS[fault]}`, {
    headers: {
      'www-authenticate': `Bearer realm="webhooks", error="invalid_token", error_description="${FAULTS[fault]}"`,
    },
    cause,
  });

/** The fault for each error of jose. Other errors are no fault of the token. */
const ERROR_FAULTS: readonly (readonly [kind: abstract new (...args: never[]) => Error, fault: Fault])[] = [
  [errors.JWTExpired, 'expired'],
  [errors.JWTClaimValidationFailed, 'claim'],
  [errors.JWSSignatureVerificationFailed, 'signature'],
  [errors.JOSEAlgNotAllowed, 'algorithm'],
  [errors.JWKSNoMatchingKey, 'unknown key'],
  [errors.JWSInvalid, 'malformed'],
  [errors.JWTInvalid, 'malformed'],
  [errors.JOSENotSupported, 'malformed'],
  [errors.JWKSMultipleMatchingKeys, 'unknown key'],
];

/** Returns the fault for an error of jose; undefined when the token is not at fault. */
export function faultOf(error: unknown): Fault | undefined {
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf') return 'not yet valid';
  return ERROR_FAULTS.find(([kind]) => error instanceof kind)?.[1];
}
