export { ConnectionError, IssuerError, UnexpectedResponseError, ProblemError } from './calls/call-errors.js';
export type { Problem, ProblemCode } from './calls/call-errors.js';
export type { CallOptions, RequestOptions } from './calls/call.js';
export { createClient, type Client, type ClientOptions } from './calls/create-client.js';
export type { EventCalls } from './calls/event-calls.js';
export type { Pages } from './calls/pages.js';
export type { QueryCalls } from './calls/query-calls.js';
export type { ClientCredentials, TokenSource } from './calls/token-source.js';
export { explainPayment, isTestEvent, type PaymentEvidence } from './explain/explain-payment.js';
export { findPayment, type FoundEvidence } from './explain/find-payment.js';
export type { ExplainedEvent, ExplainedWebhook, Verdict } from './explain/explain-delivery.js';
export type { Texts, VerdictKind } from './explain/verdict-texts.js';
export type * from './types/types.js';
export type { WebhookCalls } from './calls/webhook-calls.js';
export { NotificationError, verifyNotification, verifySignature } from './receiver/verify-notification.js';
export type { NotificationFault, NotificationHeaders } from './receiver/verify-notification.js';
export {
  createNotificationMiddleware,
  type MiddlewareOptions,
  type NotificationMiddleware,
  type NotificationRequest,
} from './receiver/notification-middleware.js';
