import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { PATTERNS } from './patterns.js';

/** One fault of an input: where (a JSON path such as `data.amount`, empty for the whole) and why, without the value. */
export interface Violation {
  readonly property: string;
  readonly reason: string;
}

export type Check<T> = (
  value: unknown,
) =>
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly violations: readonly Violation[] };

/** Faults that one answer names at most. */
export const MAX_VIOLATIONS = 20;
const utcTime = new RegExp(PATTERNS.utcTime, 'u');

/** True for RFC 3339 in UTC with a day that exists: `2026-02-30` matches the pattern and names no day. */
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
 * Compiles a JSON Schema (2020-12, and the format `utc-date-time`) once into a check that narrows the type.
 * At most 20 violations are reported; none repeats the refused value, which may be secret or personal.
 */
export function compileCheck<T>(schema: object): Check<T> {
  const validate: ValidateFunction<T> = ajv.compile<T>(schema);
  return (value) => {
    if (validate(value)) return { ok: true, value };
    return { ok: false, violations: (validate.errors ?? []).slice(0, MAX_VIOLATIONS).map(toViolation) };
  };
}
