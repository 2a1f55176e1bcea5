export * from './account/command-line.js';
export * from './account/delivery-account.js';
export * from './account/feed.js';
export * from './account/kafka.js';
export * from './account/progress.js';
export {
  IN_FORCE_MS,
  clientFor,
  findClient,
  putInForce,
  refOf,
  registerWebhooks,
} from './account/register-webhooks.js';
export type { FedStack, Hook } from './account/register-webhooks.js';
