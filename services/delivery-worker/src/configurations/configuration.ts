import {
  EVENT_TYPES,
  LONGEST_TIMEOUT_MS,
  configurationKey,
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
  EventType,
  Keyring,
  SealedSecret,
  UtcTime,
} from '@webhooks/contracts';
import type { KafkaRecord } from '@webhooks/kafka';
import { prepareSecret, toEndpointCertificate } from '@webhooks/outbound';
import type { PreparedSecret } from '@webhooks/outbound';
import type { Logger } from '@webhooks/runtime';
import type { EndpointTarget } from '../admission/endpoint-state.js';

/**
 * Throws when no key opens a sealed value, or a delay or certificate is malformed. `key`: that of the configuration.
 */
function openTerms(policy: DeliveryPolicy, keyring: Keyring, key: string) {
  const { timeoutMs, retryDelays, sealed, ...asTheyAre } = policy;
  const { headers, clientCertificate: pair } = openPolicySecrets(keyring, sealed, key);
  return {
    ...asTheyAre,
    timeoutMs: timeoutMs === undefined ? undefined : Math.min(timeoutMs, LONGEST_TIMEOUT_MS),
    delaysMs: retryDelays === undefined ? undefined : parseDelays(retryDelays.join(',')),
    headers,
    clientCertificate: pair && toEndpointCertificate(pair),
  };
}

/** An endpoint's delivery policy, ready to apply. Undefined fields have the worker's default. */
type EndpointTerms = ReturnType<typeof openTerms>;

/** One secret of a configuration, opened at its first use. */
interface KeptSecret {
  secret: PreparedSecret | SealedSecret['sealed'];
  readonly expiresAt: number;
}

const keepSecret = ({ sealed, expiresAt }: SealedSecret): KeptSecret => ({
  secret: sealed,
  expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
});

/** The target of a URL. The address behind it is checked on each connection. */
function targetOf(endpointUrl: string, policy: DeliveryPolicy | EndpointTerms | undefined): EndpointTarget {
  const { origin, pathname, search } = new URL(endpointUrl);
  return { origin, path: `${pathname}${search}`, maxConcurrency: policy?.maxConcurrency };
}

/** A configuration as the worker uses it. */
export interface Configuration {
  readonly tenantId: string;
  readonly ref: string;
  readonly revision: number;
  /** Undefined only when unreadable. */
  readonly eventType: EventType | undefined;
  readonly applicationId: string | undefined;
  readonly enabled: boolean;
  /** A newer version wrote it, and only `enabled` could be read. Its deliveries are deferred. */
  readonly isUnreadable?: true;
  /** Always the same object for one configuration. */
  readonly target: EndpointTarget;
  /** Undefined without a delivery policy. Throws when no key opens what is sealed in it. */
  readonly terms: EndpointTerms | undefined;
  /** When the endpoint's own client certificate ends. */
  readonly certificateNotAfter?: UtcTime | undefined;
  /** Secrets that sign at this moment, the newest first. Without any, deliveries are not signed. Throws when no key opens them. */
  signingSecrets(now: number): readonly PreparedSecret[];
  /** The id of a key that its deliveries need now and `SECRETS_KEYS` lacks. */
  missingKey(now: number): string | undefined;
}

/**
 * There may be a million configurations, and most never deliver from this worker. So each is one plain object without
 * closures. URL, policy and secrets are parsed at their first use.
 */
class LazyConfiguration implements Configuration {
  readonly tenantId: string;
  readonly ref: string;
  readonly revision: number;
  readonly eventType: EventType;
  readonly applicationId: string | undefined;
  readonly enabled: boolean;
  #endpoint: string | EndpointTarget;
  #policy: DeliveryPolicy | EndpointTerms | undefined;
  readonly #secrets: readonly KeptSecret[] | undefined;
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
    this.#secrets = record.secrets?.length ? record.secrets.map(keepSecret) : undefined;
    this.#keyring = keyring;
  }

  get target(): EndpointTarget {
    if (typeof this.#endpoint === 'string') this.#endpoint = targetOf(this.#endpoint, this.#policy);
    return this.#endpoint;
  }

  get terms(): EndpointTerms | undefined {
    if (this.#policy === undefined || 'delaysMs' in this.#policy) return this.#policy;
    return (this.#policy = openTerms(this.#policy, this.#keyring, configurationKey(this.tenantId, this.ref)));
  }

  get certificateNotAfter(): UtcTime | undefined {
    return this.#policy?.certificateNotAfter;
  }

  signingSecrets(now: number): readonly PreparedSecret[] {
    return this.#secretsAt(now).map((kept) => this.#open(kept));
  }

  missingKey(now: number): string | undefined {
    const policy = this.#policy === undefined || 'delaysMs' in this.#policy ? undefined : this.#policy.sealed;
    const sealed = this.#secretsAt(now).map(({ secret }) =>
      typeof secret === 'string' ? secret : undefined,
    );
    return missingKey(this.#keyring, [policy, ...sealed]);
  }

  /** An expired secret is never opened, because its key may be gone. */
  #secretsAt(now: number): readonly KeptSecret[] {
    return this.#secrets?.filter(({ expiresAt }) => now < expiresAt) ?? [];
  }

  #open(kept: KeptSecret): PreparedSecret {
    if (typeof kept.secret === 'string') {
      const owner = configurationKey(this.tenantId, this.ref);
      kept.secret = prepareSecret(openSecret(this.#keyring, kept.secret, owner));
    }
    return kept.secret;
  }
}

/** Its attempts throw, as with a secret that no key opens. So deliveries are deferred and no attempt is counted. */
const toUnreadable = ({
  tenantId,
  ref,
  revision,
  enabled,
  eventType,
}: ConfigurationSwitch): Configuration => ({
  ...{ tenantId, ref, revision, enabled, applicationId: undefined, isUnreadable: true },
  eventType: EVENT_TYPES.find((known) => known === eventType),
  target: { origin: 'https://unreadable.invalid', path: '/' },
  ...{ terms: undefined, certificateNotAfter: undefined },
  missingKey: () => undefined,
  signingSecrets: () => {
    throw new Error('the configuration record cannot be read; a newer worker can');
  },
});

/** A configuration whose URL is malformed is unreadable. */
export const toConfiguration = (record: ConfigurationRecord, keyring: Keyring): Configuration =>
  URL.canParse(record.endpointUrl) ? new LazyConfiguration(record, keyring) : toUnreadable(record);

/** Reads a record of the topic. One that cannot be read is logged, and its `enabled` still holds. */
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
    const reason = parsed.ok ? 'endpointUrl is no URL' : parsed.reason;
    log.error('a configuration record cannot be read', { key: String(key ?? ''), partition, offset, reason });
  }
  return configuration;
}
