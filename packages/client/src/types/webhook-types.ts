import type { EventType, UtcTime } from './event-types.js';

/** The input of `register` and `update`. */
export interface WebhookInput {
  readonly eventType: EventType;
  readonly endpointUrl: string;
  /** Null clears it in an update. */
  readonly applicationId?: string | null;
  readonly enabled?: boolean;
  readonly ref?: string;
}

/** A registered configuration. */
export interface Webhook {
  readonly ref: string;
  readonly eventType: EventType;
  readonly endpointUrl: string;
  readonly applicationId?: string;
  readonly enabled: boolean;
  /** Whether deliveries are signed. */
  readonly hasSecret: boolean;
  readonly secretRotatedAt?: UtcTime;
  readonly createdAt: UtcTime;
  readonly updatedAt: UtcTime;
  /** Present after an update that changed the URL. */
  readonly previousEndpointUrl?: string;
  /** False when the change is durable but not yet in force. */
  readonly published?: false;
}

/** A webhook as `list` returns it. */
export type ListedWebhook = Pick<Webhook, 'ref' | 'eventType' | 'endpointUrl' | 'applicationId' | 'enabled'>;

export interface WebhookFilter {
  readonly eventType?: EventType;
  readonly applicationId?: string;
  readonly enabled?: boolean;
  readonly ref?: string;
  /** 1 to 1,000. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** One page of a list; `nextCursor` is present when there are more pages. */
export interface Page<T> {
  readonly data: readonly T[];
  /** Number of elements in `data`. */
  readonly results: number;
  readonly nextCursor?: string;
}

export type WebhookList = Page<ListedWebhook>;

export interface SecretInput {
  /** A secret from another system: `whsec_` and 24 to 64 bytes in base64. Default: the service creates one. */
  readonly secret?: string;
  /** After a leak: ends the secrets before this one at once. Default: each is valid for 24 h more. */
  readonly expirePrevious?: boolean;
}

/** A signing secret, shown once. */
export interface WebhookSecret {
  readonly ref: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  /** Until when the secret before this one still signs too. */
  readonly previousValidUntil?: UtcTime;
  /** False when the new secret is durable but not yet in force. */
  readonly published?: false;
}

/** An address, or a block of addresses, from which deliveries come. */
export interface EgressAddress {
  readonly address: string;
  /** When the address comes into use; absent for one in use. */
  readonly validFrom?: UtcTime;
}

export type EgressList = Page<EgressAddress>;

interface DeliveryTerms {
  /** Time-out of a whole attempt, 1,000 to 30,000 ms. */
  readonly timeoutMs?: number;
  /** Maximum number of concurrent attempts in each worker. */
  readonly maxConcurrency?: number;
  readonly format?: 'standard' | 'bacen';
  /** Waits before attempts 2, 3, …: `['30s', '5m', '1h']`. */
  readonly retryDelays?: readonly string[];
}

/** An endpoint's own terms of delivery; what is absent has its default. */
export interface DeliveryPolicy extends DeliveryTerms {
  /** The last four characters of long values, by the name of the header. */
  readonly headers?: Readonly<Record<string, { readonly endsWith?: string }>>;
  readonly clientCertificate?: Readonly<{ subject: string; serial: string; notAfter: UtcTime }>;
  /** False when the policy is durable but not yet in force. */
  readonly published?: false;
}

/** Replaces the whole policy. A header or certificate that is left out stays, and null removes it. */
export interface PolicyInput extends DeliveryTerms {
  readonly headers?: Readonly<Record<string, string | null>> | null;
  /** PEM; the certificate itself first, then its intermediates. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string } | null;
}

/** The delivery that a test notification made. */
export interface TestNotification {
  readonly deliveryId: string;
  readonly eventId: string;
}

export interface HealthWindow {
  readonly from: UtcTime;
  readonly attempts: number;
  /** 0 to 1. */
  readonly successRate?: number;
  readonly p50Ms?: number;
  readonly p95Ms?: number;
}

/** The health of an endpoint. */
export interface EndpointHealth {
  readonly ref: string;
  /** `deferred`: deliveries wait because of a fault of the platform. */
  readonly state: 'disabled' | 'idle' | 'healthy' | 'deferred' | 'failing' | 'paused';
  readonly failingSince?: UtcTime;
  /** Until when the endpoint is paused. */
  readonly until?: UtcTime;
  readonly lastSuccessAt?: UtcTime;
  readonly lastFailureAt?: UtcTime;
  /** The terms of delivery that apply in place of the defaults. */
  readonly policy?: DeliveryTerms & { readonly certificateNotAfter?: UtcTime };
  /** Whether the webhook's own client certificate ends within 30 days, or has ended. */
  readonly certificateEndsSoon?: boolean;
  readonly lastHour: HealthWindow;
  readonly lastDay: HealthWindow;
  readonly failures: readonly {
    readonly class: string;
    readonly code?: string;
    /** What the failure means and what helps. */
    readonly cause?: string;
    readonly count: number;
    readonly lastAt: UtcTime;
  }[];
  readonly oldestUndelivered?: {
    readonly eventId: string;
    readonly deliveryId: string;
    readonly at: UtcTime;
  };
}

type ChangedValue = string | number | boolean | readonly string[];

/** A change of a webhook or an alert endpoint. */
export interface Change {
  readonly at: UtcTime;
  readonly action:
    'register' | 'update' | 'rotate-secret' | 'remove-secret' | 'replace-policy' | 'remove-policy' | 'end';
  readonly client: string;
  /** The `sub` of the person for whom the client acted. */
  readonly person?: string;
  readonly revision: number;
  /** Of a sealed field there is only `to`: `created`, `rotated`, `set` or `removed`. */
  readonly fields: readonly {
    readonly field: string;
    readonly from?: ChangedValue;
    readonly to?: ChangedValue;
  }[];
}

export type ChangeList = Omit<Page<Change>, 'nextCursor'>;
