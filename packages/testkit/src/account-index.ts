export { DATA_DIR, readNumber, untilSignal } from './account/command-line.js';
export { batchesOf, feed, feedTopic, newReport, readFeedLine } from './account/feed.js';
export type { FeedLine } from './account/feed.js';
export { putInForce, refOf } from './account/hooks.js';
export type { Hook } from './account/hooks.js';
export { createKafkaClient, createPaymentProducer, withAdmin } from './account/kafka-client.js';
export { DeliveryAccount } from './account/delivery-account.js';
export type {
  Acceptance,
  EndpointAccount,
  OwedEndpoint,
  Receipt,
  Totals,
} from './account/delivery-account.js';
export { align, paint, print, showProgress } from './account/print.js';
export type { Print } from './account/print.js';
export { areZero, readLags } from './account/projection-lag.js';
export type { ProjectionLag } from './account/projection-lag.js';
export { openSpans, readUnhandled } from './account/read-unhandled.js';
export type { FoundRecord, HandledPlace } from './account/read-unhandled.js';
export { IN_FORCE_MS, clientFor, findClient, registerWebhooks } from './account/register-webhooks.js';
export type { FedStack } from './account/register-webhooks.js';
export { STALLED_MS, untilNone } from './account/until-none.js';
