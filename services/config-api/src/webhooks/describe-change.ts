import { isDeepStrictEqual } from 'node:util';
import { openPolicySecrets, openSecret } from '@webhooks/contracts';
import type { Keyring } from '@webhooks/contracts';
import { idOf } from './configuration.js';
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

type Fields = Readonly<Record<string, Value | undefined>>;

/** Fields whose values are secret, and compared only. `sealed`: those of a policy that no key opens. */
const SECRET = /^(secret|sealed|clientCertificate|headers\..*)$/;

/** Opens a sealed value, because each sealing has another text. Returns `sealed` when no key opens it. */
function tryToOpen<T>(open: () => T, sealed: T): T {
  try {
    return open();
  } catch {
    return sealed;
  }
}

function fieldsOf(configuration: Configuration, keyring: Keyring): Fields {
  const { eventType, endpointUrl, applicationId, enabled, alert } = configuration;
  const { sealed, certificateNotAfter, ...plain } = configuration.policy;
  const [newest] = configuration.secrets;
  const id = idOf(configuration);
  const secret = newest && tryToOpen(() => openSecret(keyring, newest.sealed, id), newest.sealed);
  const open = (): Fields => {
    const { headers = {}, clientCertificate: pair } = openPolicySecrets(keyring, sealed, id);
    const named = Object.entries(headers).map(([name, value]) => [`headers.${name}`, value] as const);
    return { ...(pair && { clientCertificate: [pair.certificate, pair.key] }), ...Object.fromEntries(named) };
  };
  const hidden = { secret, ...tryToOpen(open, { sealed }) };
  return { eventType, endpointUrl, applicationId, enabled, ...plain, ...alert, ...hidden };
}

/** Cuts a URL to its host and path: a query may have a password. */
function cut(url: string): string {
  const { host, pathname } = new URL(url);
  return host + pathname;
}

function changeOf(field: string, from: Value | undefined, to: Value | undefined): FieldChange {
  if (!SECRET.test(field)) {
    const show = (value: Value): Value => (field === 'endpointUrl' ? cut(String(value)) : value);
    return {
      field,
      ...(from !== undefined && { from: show(from) }),
      ...(to !== undefined && { to: show(to) }),
    };
  }
  if (to === undefined) return { field, to: 'removed' };
  if (field !== 'secret') return { field, to: 'set' };
  return { field, to: from === undefined ? 'created' : 'rotated' };
}

export const createDescribeChange =
  (keyring: Keyring): DescribeChange =>
  (before, after) => {
    const [from, to] = [before ? fieldsOf(before, keyring) : {}, fieldsOf(after, keyring)];
    const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    return names
      .filter((name) => !isDeepStrictEqual(from[name], to[name]))
      .map((name) => changeOf(name, from[name], to[name]));
  };
