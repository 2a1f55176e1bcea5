import { runService } from '@webhooks/runtime';
import { composeDeliveryWorker, workerChecks } from './compose.js';
import { readWorkerConfig } from './config.js';

await runService({
  name: 'delivery-worker',
  readConfig: readWorkerConfig,
  compose: composeDeliveryWorker,
  checks: workerChecks,
});
