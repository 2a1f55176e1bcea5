import { isDeepStrictEqual } from 'node:util';
import { configurationKey, openPolicySecrets, openSecret } from '@webhooks/contracts';
import type { Keyring } from '@webhooks/contracts';
import type { Configuration } from './configuration.js';

type Value = string | number | boolean | readonly string[];

/**
 * One field that a change gave another value. Without `from` it had none, without `to` it has none. Of a sealed value only
 * `to` is given: `created`, `rotated`, `set` or `removed`.
 */
export interface FieldChange {
  /** Name of a field of the configuration or its policy; `secret`, `clientCertificate`, or `headers.` and a name. */
  readonly field: string;
  readonly from?: Value;
  readonly to?: Value;
}

/** Returns the fields that differ; empty when the states are equal. `before` is undefined for a registration. */
export type DescribeChange = (
  before: Configuration | undefined,
  after: Configuration,
) => readonly FieldChange[];

type Fields = Readonly<Record<string, unknown>>;

function differing(before: Fields, after: Fields): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !isDeepStrictEqual(before[name], after[name]));
}

type OpenFields = Readonly<Record<string, Value | undefined>>;

function openFieldsOf(configuration: Configuration | undefined): OpenFields {
  if (configuration === undefined) return {};
  const { eventType, endpointUrl, applicationId, enabled, policy, alert } = configuration;
  const { sealed, certificateNotAfter, ...open } = policy;
  return { eventType, endpointUrl, applicationId, enabled, ...open, ...alert };
}

/** Cuts a URL to its host and path: a query may have a password. */
function cut(url: string): string {
  const { host, pathname } = new URL(url);
  return host + pathname;
}

/** Shows the value of an open field as `from` or `to`; empty without a value. */
function show(end: 'from' | 'to', field: string, value: Value | undefined): Partial<FieldChange> {
  if (value === undefined) return {};
  return { [end]: field === 'endpointUrl' ? cut(String(value)) : value };
}

/** Opens a sealed value. Returns `unopened` when no key does. */
function tryToOpen<T>(open: () => T, unopened: T): T {
  try {
    return open();
  } catch {
    return unopened;
  }
}

/** Returns the secret values, to be compared only. Of a policy that no key opens they are one, `sealed`. */
function sealedFieldsOf(configuration: Configuration | undefined, keyring: Keyring): Fields {
  if (configuration === undefined) return {};
  const [newest] = configuration.secrets;
  const { sealed } = configuration.policy;
  const key = configurationKey(configuration.tenantId, configuration.ref);
  const secret = newest && tryToOpen(() => openSecret(keyring, newest.sealed, key), newest.sealed);
  const open = (): Fields => {
    const { headers = {}, clientCertificate } = openPolicySecrets(keyring, sealed, key);
    const named = Object.entries(headers).map(([name, value]) => [`headers.${name}`, value] as const);
    return { clientCertificate, ...Object.fromEntries(named) };
  };
  return { secret, ...tryToOpen(open, { sealed }) };
}

function wordOf(field: string, before: unknown, after: unknown): string {
  if (after === undefined) return 'removed';
  if (field !== 'secret') return 'set';
  return before === undefined ? 'created' : 'rotated';
}

export const createDescribeChange =
  (keyring: Keyring): DescribeChange =>
  (before, after) => {
    const [from, to] = [openFieldsOf(before), openFieldsOf(after)];
    const [closedFrom, closedTo] = [sealedFieldsOf(before, keyring), sealedFieldsOf(after, keyring)];
    return [
      ...differing(from, to).map((field) => ({
        field,
        ...show('from', field, from[field]),
        ...show('to', field, to[field]),
      })),
      ...differing(closedFrom, closedTo).map((field) => ({
        field,
        to: wordOf(field, closedFrom[field], closedTo[field]),
      })),
    ];
  };
