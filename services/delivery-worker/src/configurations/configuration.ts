import {
  LONGEST_TIMEOUT_MS,
  configurationKey,
  isNotificationKind,
  missingKey,
  openPolicySecrets,
  openSecret,
  parseConfigurationRecord,
  parseDelays,
} from '@webhooks/contracts';
import type {
  ConfigurationRecord,
  ConfigurationSwitch,
  DeliveryPolicy,
  Keyring,
  NotificationKind,
  SealedSecret,
  UtcTime,
} from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import { prepareSecret, toEndpointCertificate } from '@webhooks/outbound';
import type { PreparedSecret } from '@webhooks/outbound';
import type { Logger } from '@webhooks/runtime';
import type { EndpointTarget } from '../admission/endpoint-state.js';

/**
 * Decrypts and parses a delivery policy. `key`: the key of the configuration's record. Throws when no key decrypts a
 * sealed value, or when a delay or certificate is malformed.
 */
function toPolicy(policy: DeliveryPolicy, keyring: Keyring, key: string) {
  const { timeoutMs, retryDelays, sealed, ...plain } = policy;
  const { headers, clientCertificate: pair } = openPolicySecrets(keyring, sealed, key);
  return {
    ...plain,
    timeoutMs: timeoutMs === undefined ? undefined : Math.min(timeoutMs, LONGEST_TIMEOUT_MS),
    delaysMs: retryDelays === undefined ? undefined : parseDelays(retryDelays.join(',')),
    headers,
    clientCertificate: pair && toEndpointCertificate(pair),
  };
}

/** An endpoint's delivery policy, ready to apply. For an undefined field the worker's default applies. */
type EndpointPolicy = ReturnType<typeof toPolicy>;

/** One secret of a configuration: sealed until its first use, then prepared for signing. */
interface LazySecret {
  secret: PreparedSecret | SealedSecret['sealed'];
  readonly expiresAt: number;
}

const toLazySecret = ({ sealed, expiresAt }: SealedSecret): LazySecret => ({
  secret: sealed,
  expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
});

/** Parses a URL into a target. The address behind its host name is checked on each connection. */
function targetOf(endpointUrl: string, policy: DeliveryPolicy | EndpointPolicy | undefined): EndpointTarget {
  const { origin, pathname, search } = new URL(endpointUrl);
  return { origin, path: `${pathname}${search}`, maxConcurrency: policy?.maxConcurrency };
}

/**
 * There may be a million configurations, and most are never used by this worker. So each is one plain object without
 * closures. URL, policy and secrets are parsed at their first use.
 */
class LazyConfiguration {
  readonly tenantId: string;
  readonly ref: string;
  readonly revision: number;
  /** Undefined only when unreadable. */
  readonly eventType: NotificationKind | undefined;
  readonly applicationId: string | undefined;
  readonly enabled: boolean;
  #endpoint: string | EndpointTarget;
  #policy: DeliveryPolicy | EndpointPolicy | undefined;
  readonly #secrets: readonly LazySecret[] | undefined;
  readonly #keyring: Keyring;

  constructor(record: ConfigurationRecord, keyring: Keyring) {
    this.tenantId = record.tenantId;
    this.ref = record.ref;
    this.revision = record.revision;
    this.eventType = record.eventType;
    this.applicationId = record.applicationId;
    this.enabled = record.enabled;
    this.#endpoint = record.endpointUrl;
    this.#policy = record.policy;
    this.#secrets = record.secrets?.length ? record.secrets.map(toLazySecret) : undefined;
    this.#keyring = keyring;
  }

  /** The same object on each access. */
  get target(): EndpointTarget {
    if (typeof this.#endpoint === 'string') this.#endpoint = targetOf(this.#endpoint, this.#policy);
    return this.#endpoint;
  }

  /** The delivery policy; undefined without one. Throws when no key decrypts its sealed values. */
  get policy(): EndpointPolicy | undefined {
    if (this.#policy === undefined || 'delaysMs' in this.#policy) return this.#policy;
    return (this.#policy = toPolicy(this.#policy, this.#keyring, configurationKey(this.tenantId, this.ref)));
  }

  /** When the client certificate of the delivery policy expires. */
  get certificateNotAfter(): UtcTime | undefined {
    return this.#policy?.certificateNotAfter;
  }

  /**
   * The secrets that sign at `now` (Unix milliseconds), newest first. Without any, deliveries are not signed. Throws
   * when no key decrypts them.
   */
  signingSecrets(now: number): readonly PreparedSecret[] {
    return this.#secretsAt(now).map((lazy) => this.#open(lazy));
  }

  /**
   * The id of a key that deliveries of this webhook need at `now` and that `SECRETS_KEYS` lacks; undefined when none
   * is missing.
   */
  missingKey(now: number): string | undefined {
    const policy = this.#policy === undefined || 'delaysMs' in this.#policy ? undefined : this.#policy.sealed;
    const sealed = this.#secretsAt(now).map(({ secret }) =>
      typeof secret === 'string' ? secret : undefined,
    );
    return missingKey(this.#keyring, [policy, ...sealed]);
  }

  /** Skips expired secrets: their keys may have been removed. */
  #secretsAt(now: number): readonly LazySecret[] {
    return this.#secrets?.filter(({ expiresAt }) => now < expiresAt) ?? [];
  }

  #open(lazy: LazySecret): PreparedSecret {
    if (typeof lazy.secret === 'string') {
      const owner = configurationKey(this.tenantId, this.ref);
      lazy.secret = prepareSecret(openSecret(this.#keyring, lazy.secret, owner));
    }
    return lazy.secret;
  }
}

/**
 * A configuration as the worker uses it. `isUnreadable`: set when a newer version wrote the record, so that only its
 * `enabled` could be read, or its URL is malformed. Its deliveries are deferred.
 */
export type Configuration = Pick<LazyConfiguration, keyof LazyConfiguration> & {
  readonly isUnreadable?: true;
};

/** Its attempts throw, as with a secret that no key decrypts. So deliveries are deferred and no attempt is counted. */
const toUnreadable = (known: ConfigurationSwitch): Configuration => ({
  ...{ tenantId: known.tenantId, ref: known.ref, revision: known.revision, enabled: known.enabled },
  eventType: isNotificationKind(known.eventType) ? known.eventType : undefined,
  target: { origin: 'https://unreadable.invalid', path: '/' },
  ...{ applicationId: undefined, policy: undefined, certificateNotAfter: undefined, isUnreadable: true },
  missingKey: () => undefined,
  signingSecrets: () => {
    throw new Error('the configuration record cannot be read; a newer worker can');
  },
});

/** Converts a parsed record. A configuration whose URL is malformed is unreadable. */
export const toConfiguration = (record: ConfigurationRecord, keyring: Keyring): Configuration =>
  URL.canParse(record.endpointUrl) ? new LazyConfiguration(record, keyring) : toUnreadable(record);

/**
 * Reads a record of the topic. A record that cannot be read is logged, and only its `enabled` applies. Returns
 * undefined for a null value, or when not even `enabled` could be read.
 */
export function readConfiguration(
  { key, value, partition, offset }: KafkaRecord,
  keyring: Keyring,
  log: Logger,
): Configuration | undefined {
  if (value === null) return undefined;
  const parsed = parseConfigurationRecord(value);
  const configuration = parsed.ok
    ? toConfiguration(parsed.configuration, keyring)
    : parsed.known && toUnreadable(parsed.known);
  if (!configuration || configuration.isUnreadable) {
    const reason = parsed.ok ? 'endpointUrl is not a URL' : parsed.reason;
    log.error('a configuration record cannot be read', { key: String(key ?? ''), partition, offset, reason });
  }
  return configuration;
}
