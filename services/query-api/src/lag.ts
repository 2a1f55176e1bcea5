import { operateLag } from '@webhooks/kafka';

// `node_modules/node/bin/node services/query-api/dist/src/lag.js`, with the service's KAFKA_… settings, says how far each consumer group is behind.
await operateLag('query-api');
