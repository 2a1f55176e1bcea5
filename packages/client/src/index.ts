export { ConnectionError, UnexpectedResponseError } from './call-errors.js';
export type { CallOptions, RequestOptions } from './call.js';
export { createClient } from './create-client.js';
export type { Client, ClientOptions } from './create-client.js';
export type { EventCalls } from './event-calls.js';
export type { Pages } from './pages.js';
export { ProblemError } from './problem-error.js';
export type { Problem, ProblemCode } from './problem-error.js';
export type { QueryCalls } from './query-calls.js';
export type { ClientCredentials, TokenSource } from './token-source.js';
export type * from './types.js';
export type { WebhookCalls } from './webhook-calls.js';
export { NotificationError } from './notification-error.js';
export type { NotificationFault } from './notification-error.js';
export { createNotificationMiddleware } from './notification-middleware.js';
export type {
  MiddlewareOptions,
  NotificationMiddleware,
  NotificationRequest,
} from './notification-middleware.js';
export { verifyNotification, verifySignature } from './verify-notification.js';
export type { NotificationHeaders } from './verify-notification.js';
