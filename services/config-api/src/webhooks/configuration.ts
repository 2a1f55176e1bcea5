import { hash } from 'node:crypto';
import type { ConfigurationRecord, DeliveryPolicy, EventType } from '@webhooks/contracts';

export interface StoredSecret {
  /** Encrypted; see `sealSecret`. */
  readonly sealed: string;
  /** Set on the previous secret of a rotation. */
  readonly expiresAt?: Date;
  /** Absent in what was stored before it was kept. */
  readonly createdAt?: Date;
}

/** What a caller may choose of a configuration, its URL already checked. */
export interface Route {
  readonly eventType: EventType;
  /** As it was typed. */
  readonly endpointUrl: string;
  /** Two spellings of one endpoint are equal here. */
  readonly normalizedUrl: string;
  /** Null or absent: no application. */
  readonly applicationId?: string | null;
}

/** A webhook configuration as it is stored; `(tenantId, ref)` is its name. */
export interface Configuration extends Route {
  readonly tenantId: string;
  readonly ref: string;
  readonly applicationId?: string;
  /** Place among the tenant's configurations in the order of their registration, from 1, without gaps. */
  readonly position: number;
  /** Rises with each change, from 1. */
  readonly revision: number;
  /** A revision that Kafka is known to have; it may have a later one. */
  readonly publishedRevision: number;
  readonly enabled: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The newest first, at most `MAX_SECRETS`. */
  readonly secrets: readonly StoredSecret[];
  /** Empty: the worker's defaults. */
  readonly policy: DeliveryPolicy;
}

/** An element of a list. */
export const toListed = (configuration: Configuration) => ({
  ref: configuration.ref,
  eventType: configuration.eventType,
  endpointUrl: configuration.endpointUrl,
  ...(configuration.applicationId === undefined ? {} : { applicationId: configuration.applicationId }),
  enabled: configuration.enabled,
});

const timesOf = ({ createdAt, updatedAt }: Configuration) => ({
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

/** What callers see of a configuration. */
export function toView(configuration: Configuration) {
  const [newest] = configuration.secrets;
  return {
    ...toListed(configuration),
    hasSecret: newest !== undefined,
    ...(newest?.createdAt === undefined ? {} : { secretRotatedAt: newest.createdAt.toISOString() }),
    ...timesOf(configuration),
  };
}

/** The configuration as the compacted topic has it. */
export const toRecord = (configuration: Configuration): ConfigurationRecord => ({
  v: 1,
  tenantId: configuration.tenantId,
  revision: configuration.revision,
  ...toListed(configuration),
  ...timesOf(configuration),
  ...(configuration.secrets.length === 0
    ? {}
    : {
        secrets: configuration.secrets.map(({ sealed, expiresAt }) => ({
          sealed,
          ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }),
        })),
      }),
  ...(Object.keys(configuration.policy).length === 0 ? {} : { policy: configuration.policy }),
});

/**
 * One word for (tenant, application or none, event type, normalised URL), unique among all configurations: two rows
 * with the same word would tell one endpoint twice of one event.
 */
export const routeKeyOf = (tenantId: string, route: Route): string =>
  hash(
    'sha256',
    JSON.stringify([tenantId, route.applicationId ?? null, route.eventType, route.normalizedUrl]),
    'base64url',
  );

/**
 * A fingerprint for the audit trail: tells whether two states are the same without showing either. Without `revision` and
 * `updatedAt`: every request makes new ones, also when its values are the same.
 */
export const fingerprintOf = (configuration: Configuration): string => {
  const record = toRecord(configuration);
  // In whichever order its members were given.
  const policy = record.policy && Object.entries(record.policy).sort();
  const state = { ...record, policy, revision: undefined, updatedAt: undefined };
  return hash('sha256', JSON.stringify(state), 'hex');
};

/** The next revision of a configuration. */
export const revise = (
  configuration: Configuration,
  change: Partial<Configuration>,
  now: Date,
): Configuration => ({ ...configuration, ...change, revision: configuration.revision + 1, updatedAt: now });
