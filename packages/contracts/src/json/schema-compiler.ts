import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';

/** Patterns that several schemas share, as JSON Schema `pattern` texts (ECMA-262, matched with the `u` flag). */
export const PATTERNS = {
  eventId: '^[A-Za-z0-9_-]{1,64}$',
  /** No `/`: the key of a configuration is `tenantId/ref`. */
  tenantId: '^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$',
  /** A UUID in its canonical form, in lower case, so that a ref has one spelling (RFC 9562 §4). */
  ref: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  /** A ref as a caller may write it: in any letter case. */
  givenRef: '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$',
  dynamicTxId: '^[a-zA-Z0-9]{26,35}$',
  anyTxId: '^[a-zA-Z0-9]{1,35}$',
  staticTxId: '^[a-zA-Z0-9]{1,25}$',
  endToEndId: '^[a-zA-Z0-9]{32}$',
  reversalId: '^[a-zA-Z0-9]{1,35}$',
  paymentId: '^[a-zA-Z0-9]{1,35}$',
  money: '^\\d{1,10}\\.\\d{2}$',
  /** A code such as `MD06`. The pattern excludes free text, which may be personal (LGPD). */
  reasonCode: '^[A-Za-z0-9_-]{1,35}$',
  /** `0`, or `r` and the id of a redelivery. */
  cycle: '^(0|r[\\x21-\\x7e]{1,255})$',
  utcTime:
    '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?Z$',
} as const;

/** The last millisecond that RFC 3339 can express, in Unix milliseconds. */
export const MAX_TIME_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The highest attempt number that is accepted, far above the 51 attempts of the longest schedule. */
export const MAX_ATTEMPT = 1_000_000;
/** The highest partition number that is accepted. Kafka's are signed 32-bit integers, so they are lower. */
export const MAX_PARTITION = 2 ** 31;

const tenant = new RegExp(PATTERNS.tenantId, 'u');
export const isTenantId = (value: unknown): value is string =>
  typeof value === 'string' && tenant.test(value);

/**
 * One fault of an input. `property`: a JSON path such as `data.amount`, empty for the whole. The value is not
 * repeated.
 */
export interface Violation {
  readonly property: string;
  readonly reason: string;
}

/** Checks a value. Returns it with its type, or the violations. */
export type Check<T> = (
  value: unknown,
) =>
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly violations: readonly Violation[] };

/** The maximum number of faults that one response names. */
export const MAX_VIOLATIONS = 20;
const utcTime = new RegExp(PATTERNS.utcTime, 'u');

/**
 * Whether a text is an RFC 3339 time in UTC, with a day that exists: `2026-02-30` matches the pattern, but is no day.
 */
export function isUtcTime(value: string): boolean {
  if (!utcTime.test(value)) return false;
  const day = Number(value.slice(8, 10));
  return (
    day <= 28 ||
    new Date(Date.UTC(Number(value.slice(0, 4)), Number(value.slice(5, 7)) - 1, day)).getUTCDate() === day
  );
}

const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, verbose: true });
ajv.addFormat('utc-date-time', isUtcTime);
ajv.addKeyword('x-extension');

function propertyOf(error: ErrorObject): string {
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  const params: Record<string, unknown> = error.params;
  const inner = params['missingProperty'] ?? params['additionalProperty'] ?? params['propertyName'];
  return typeof inner === 'string' ? [path, inner].filter(Boolean).join('.') : path;
}

function reasonOf(error: ErrorObject): string {
  const description: unknown = error.parentSchema?.['description'];
  if (typeof description === 'string') return description;
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known field';
    case 'enum':
      return `must be one of ${String((error.params as { allowedValues?: unknown }).allowedValues).replaceAll(',', ', ')}`;
    case 'format':
      return 'must be an RFC 3339 time in UTC';
    default:
      return (error.message ?? 'is not valid').replace(',null', ' or null');
  }
}

const toViolation = (error: ErrorObject): Violation => ({
  property: propertyOf(error).slice(0, 200),
  reason: reasonOf(error).slice(0, 300),
});

/**
 * Compiles a JSON Schema (2020-12, with the format `utc-date-time`) into a check that narrows the type. The check reports
 * at most 20 violations. They do not repeat the refused value, which may be secret or personal.
 */
export function compileCheck<T>(schema: object): Check<T> {
  const validate: ValidateFunction<T> = ajv.compile<T>(schema);
  return (value) => {
    if (validate(value)) return { ok: true, value };
    return { ok: false, violations: (validate.errors ?? []).slice(0, MAX_VIOLATIONS).map(toViolation) };
  };
}
