import type { EventType, UtcTime } from './event-types.js';

/** What `register` and `update` take. */
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
  /** After an update that changed the URL. */
  readonly previousEndpointUrl?: string;
  /** False when the change is durable but not yet in force. */
  readonly published?: false;
}

/** Elements of the list. */
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

/** One page of a list; `nextCursor` is there when there is more. */
export interface Page<T> {
  readonly data: readonly T[];
  /** Number of elements in `data`. */
  readonly results: number;
  readonly nextCursor?: string;
}

export type WebhookList = Page<ListedWebhook>;

export interface SecretInput {
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

/** How an endpoint has been doing. */
export interface EndpointHealth {
  readonly ref: string;
  readonly state: 'disabled' | 'idle' | 'healthy' | 'failing' | 'paused';
  readonly failingSince?: UtcTime;
  /** Until when it is paused. */
  readonly until?: UtcTime;
  readonly lastSuccessAt?: UtcTime;
  readonly lastFailureAt?: UtcTime;
  readonly lastHour: HealthWindow;
  readonly lastDay: HealthWindow;
  readonly failures: readonly { readonly class: string; readonly count: number; readonly lastAt: UtcTime }[];
  readonly oldestUndelivered?: {
    readonly eventId: string;
    readonly deliveryId: string;
    readonly at: UtcTime;
  };
}
