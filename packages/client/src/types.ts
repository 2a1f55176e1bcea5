import type { EventType, PostedEvent, Violation } from '@webhooks/contracts';

/** What POST and PUT take. */
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
  readonly secretRotatedAt?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** In the answer to an update that changed the URL. */
  readonly previousEndpointUrl?: string;
  /** False when the change is durable but not yet in force. */
  readonly published?: boolean;
}

/** Elements of the list. */
export type ListedWebhook = Pick<Webhook, 'ref' | 'eventType' | 'endpointUrl' | 'applicationId' | 'enabled'>;

export interface WebhookFilter {
  readonly eventType?: EventType;
  readonly applicationId?: string;
  readonly enabled?: boolean;
  readonly ref?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

export interface WebhookList {
  readonly data: readonly ListedWebhook[];
  readonly results: number;
  readonly nextCursor?: string;
}

/** A signing secret, shown once. */
export interface WebhookSecret {
  readonly ref: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  /** Until when the secret before this one still signs too. */
  readonly previousValidUntil?: string;
  /** False when the new secret is durable but not yet in force. */
  readonly published?: boolean;
}

export type EventInput = PostedEvent;

/** What became of one posted event. */
export interface EventResult {
  readonly index: number;
  /** Line of an NDJSON body, from 1. */
  readonly line?: number;
  readonly id?: string;
  readonly status: 'accepted' | 'invalid' | 'forbidden-tenant' | 'unavailable';
  readonly violations?: readonly Violation[];
}
