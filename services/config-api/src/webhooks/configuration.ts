import { hash } from 'node:crypto';
import { configurationKey } from '@webhooks/contracts';
import type {
  AlertSettings,
  ConfigurationRecord,
  DeliveryPolicy,
  NotificationKind,
} from '@webhooks/contracts';

/** A signing secret of a configuration. */
export interface StoredSecret {
  /** The encrypted secret; see `sealSecret`. */
  readonly sealed: string;
  /** When the secret no longer signs; set on the previous secrets of a rotation. */
  readonly expiresAt?: Date;
  /** Absent in old documents. */
  readonly createdAt?: Date;
}

/** The fields that identify a webhook for its tenant, with a checked URL. */
export interface Route {
  readonly eventType: NotificationKind;
  /** The URL as the caller wrote it. */
  readonly endpointUrl: string;
  /** The URL in normalised form: equal for all spellings of one endpoint. */
  readonly normalizedUrl: string;
  /** Null or absent: no application. */
  readonly applicationId?: string | null;
}

/** A configuration: of a webhook, or of an alert endpoint. `(tenantId, ref)` is its name. */
export interface Configuration extends Route {
  readonly tenantId: string;
  readonly ref: string;
  readonly applicationId?: string;
  /**
   * Position in order of registration, without gaps: from 1 among the tenant's webhooks, and from -1 downwards among its
   * alert endpoints.
   */
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
  /** Set on an alert endpoint. */
  readonly alert?: AlertSettings;
}

export const idOf = ({ tenantId, ref }: Configuration): string => configurationKey(tenantId, ref);

export const isAlertEndpoint = ({ alert }: Configuration): boolean => alert !== undefined;
export const isWebhook = (configuration: Configuration): boolean => !isAlertEndpoint(configuration);
/** Whether an alert endpoint has ended. Its ref stays taken, and its URL is free. */
export const hasEnded = (configuration: Configuration): boolean =>
  isAlertEndpoint(configuration) && !configuration.enabled;

/** Shows a configuration in a list. */
export const toListed = ({ ref, eventType, endpointUrl, applicationId, enabled }: Configuration) => ({
  ...{ ref, eventType, endpointUrl },
  ...(applicationId !== undefined && { applicationId }),
  enabled,
});

const timesOf = ({ createdAt, updatedAt }: Configuration) => ({
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

function detailsOf(configuration: Configuration) {
  const [newest] = configuration.secrets;
  const rotatedAt = newest?.createdAt?.toISOString();
  const hasSecret = newest !== undefined;
  return { hasSecret, ...(rotatedAt && { secretRotatedAt: rotatedAt }), ...timesOf(configuration) };
}

/** Shows a webhook to callers. */
export const toView = (configuration: Configuration) => ({
  ...toListed(configuration),
  ...detailsOf(configuration),
});

/** Shows an alert endpoint to callers. */
export const toAlertView = (configuration: Configuration) => ({
  ref: configuration.ref,
  endpointUrl: configuration.endpointUrl,
  ...configuration.alert,
  ...detailsOf(configuration),
});

const toSecret = ({ sealed, expiresAt }: StoredSecret) => ({
  sealed,
  ...(expiresAt && { expiresAt: expiresAt.toISOString() }),
});

/** Returns the record of a configuration for the compacted topic. */
export function toRecord(configuration: Configuration): ConfigurationRecord {
  const { tenantId, revision, secrets, policy, alert } = configuration;
  return {
    ...{ v: 1, tenantId, revision },
    ...toListed(configuration),
    ...timesOf(configuration),
    ...(secrets.length > 0 && { secrets: secrets.map(toSecret) }),
    ...(Object.keys(policy).length > 0 && { policy }),
    ...(alert && { alert }),
  };
}

/**
 * Returns a key of tenant, application or none, event type and normalised URL, unique among all configurations. Two
 * configurations with one key would send each event to one endpoint twice.
 */
export const routeKeyOf = (tenantId: string, route: Route): string =>
  hash(
    'sha256',
    JSON.stringify([tenantId, route.applicationId ?? null, route.eventType, route.normalizedUrl]),
    'base64url',
  );

/** Returns the next revision of a configuration, with these changes. */
export const revise = (
  configuration: Configuration,
  change: Partial<Configuration>,
  now: Date,
): Configuration => ({ ...configuration, ...change, revision: configuration.revision + 1, updatedAt: now });
