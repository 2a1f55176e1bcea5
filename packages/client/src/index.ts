export { ConnectionError, UnexpectedResponseError } from './calls/call-errors.js';
export type { CallOptions, RequestOptions } from './calls/call.js';
export { createClient } from './calls/create-client.js';
export type { Client, ClientOptions } from './calls/create-client.js';
export type { EventCalls } from './calls/event-calls.js';
export type { Pages } from './calls/pages.js';
export { ProblemError } from './calls/problem-error.js';
export type { Problem, ProblemCode } from './calls/problem-error.js';
export type { QueryCalls } from './calls/query-calls.js';
export type { ClientCredentials, TokenSource } from './calls/token-source.js';
export type * from './types/types.js';
export type { WebhookCalls } from './calls/webhook-calls.js';
export { NotificationError } from './receiver/notification-error.js';
export type { NotificationFault } from './receiver/notification-error.js';
export { createNotificationMiddleware } from './receiver/notification-middleware.js';
export type {
  MiddlewareOptions,
  NotificationMiddleware,
  NotificationRequest,
} from './receiver/notification-middleware.js';
export { verifyNotification, verifySignature } from './receiver/verify-notification.js';
export type { NotificationHeaders } from './receiver/verify-notification.js';
