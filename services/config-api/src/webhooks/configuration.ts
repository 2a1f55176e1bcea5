import { hash } from 'node:crypto';
import type { ConfigurationRecord, DeliveryPolicy, EventType } from '@webhooks/contracts';

export interface StoredSecret {
  /** Encrypted; see `sealSecret`. */
  readonly sealed: string;
  /** Set on the previous secret of a rotation. */
  readonly expiresAt?: Date;
  /** Absent in old documents. */
  readonly createdAt?: Date;
}

/** The fields that a caller may choose, with a checked URL. */
export interface Route {
  readonly eventType: EventType;
  /** As the caller wrote it. */
  readonly endpointUrl: string;
  /** Equal for two spellings of one endpoint. */
  readonly normalizedUrl: string;
  /** Null or absent: no application. */
  readonly applicationId?: string | null;
}

/** A webhook configuration; `(tenantId, ref)` is its name. */
export interface Configuration extends Route {
  readonly tenantId: string;
  readonly ref: string;
  readonly applicationId?: string;
  /** Position among the tenant's configurations in order of registration, from 1, without gaps. */
  readonly position: number;
  /** Rises with each change, from 1. */
  readonly revision: number;
  /** A revision that Kafka is known to have; Kafka may have a later one. */
  readonly publishedRevision: number;
  readonly enabled: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The newest first, at most `MAX_SECRETS`. */
  readonly secrets: readonly StoredSecret[];
  /** Empty: the worker's defaults. */
  readonly policy: DeliveryPolicy;
}

/** A configuration in a list. */
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

/** A configuration as callers see it. */
export function toView(configuration: Configuration) {
  const [newest] = configuration.secrets;
  return {
    ...toListed(configuration),
    hasSecret: newest !== undefined,
    ...(newest?.createdAt === undefined ? {} : { secretRotatedAt: newest.createdAt.toISOString() }),
    ...timesOf(configuration),
  };
}

/** A configuration as the compacted topic has it. */
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
 * A key of (tenant, application or none, event type, normalised URL), unique among all configurations. Two rows with
 * one key would notify one endpoint twice of one event.
 */
export const routeKeyOf = (tenantId: string, route: Route): string =>
  hash(
    'sha256',
    JSON.stringify([tenantId, route.applicationId ?? null, route.eventType, route.normalizedUrl]),
    'base64url',
  );

/**
 * A fingerprint for the audit trail, which shows whether two states are equal. Without `revision` and `updatedAt`,
 * which every request changes.
 */
export const fingerprintOf = (configuration: Configuration): string => {
  const record = toRecord(configuration);
  // Independent of the order in which the members were given.
  const policy = record.policy && Object.entries(record.policy).sort();
  const state = { ...record, policy, revision: undefined, updatedAt: undefined };
  return hash('sha256', JSON.stringify(state), 'hex');
};

export const revise = (
  configuration: Configuration,
  change: Partial<Configuration>,
  now: Date,
): Configuration => ({ ...configuration, ...change, revision: configuration.revision + 1, updatedAt: now });
