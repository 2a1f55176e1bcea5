export { withAdmin } from '@webhooks/local';
export * from './account/command-line.js';
export * from './account/delivery-account.js';
export * from './account/feed.js';
export * from './account/kafka.js';
export * from './account/progress.js';
export * from './account/register-webhooks.js';
export * from './account/start-balancer.js';
