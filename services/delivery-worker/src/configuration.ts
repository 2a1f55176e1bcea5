import { configurationKey, openSecret } from '@webhooks/contracts';
import type { ConfigurationRecord, EventType, Keyring, SealedSecret } from '@webhooks/contracts';
import { prepareSecret } from '@webhooks/outbound';
import type { PreparedSecret, SendTarget } from '@webhooks/outbound';

/** A configuration as the worker uses it. */
export interface Configuration {
  readonly tenantId: string;
  readonly ref: string;
  readonly revision: number;
  readonly eventType: EventType;
  readonly applicationId?: string;
  readonly enabled: boolean;
  readonly target: SendTarget;
  /** Secrets that sign at this moment, the newest first; none: deliveries are not signed. Throws when no key opens them. */
  signingSecrets(now: number): readonly PreparedSecret[];
}

const NONE: readonly PreparedSecret[] = [];

/** Opens a secret at its first use and keeps it: most configurations of a large table never deliver here. */
function lazySecret(entry: SealedSecret, owner: string, keyring: Keyring): () => PreparedSecret {
  let opened: PreparedSecret | undefined;
  return () => (opened ??= prepareSecret(openSecret(keyring, entry.sealed, owner)));
}

/** Secrets in force at a moment. One that has expired is never opened: its key may be gone, and must not matter. */
function secretsOf(
  record: ConfigurationRecord,
  keyring: Keyring,
): (now: number) => readonly PreparedSecret[] {
  const sealed = record.secrets ?? [];
  if (sealed.length === 0) return () => NONE;
  const owner = configurationKey(record.tenantId, record.ref);
  const timed = sealed.map((entry) => ({
    open: lazySecret(entry, owner, keyring),
    expiresAt: entry.expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(entry.expiresAt),
  }));
  return (now) => timed.filter(({ expiresAt }) => now < expiresAt).map(({ open }) => open());
}

/** Where a URL that passed the rules at registration leads to. The address behind it is judged on each connection. */
function targetOf(endpointUrl: string): SendTarget {
  const { origin, pathname, search } = new URL(endpointUrl);
  return { origin, path: `${pathname}${search}` };
}

/** Throws when the URL is none. */
export function toConfiguration(record: ConfigurationRecord, keyring: Keyring): Configuration {
  const { tenantId, ref, revision, eventType, applicationId, enabled } = record;
  return {
    tenantId,
    ref,
    revision,
    eventType,
    ...(applicationId === undefined ? {} : { applicationId }),
    enabled,
    target: targetOf(record.endpointUrl),
    signingSecrets: secretsOf(record, keyring),
  };
}
