import { runService } from '@webhooks/runtime';
import { composeDeliveryWorker } from './compose.js';
import { readWorkerConfig } from './config.js';

await runService({ name: 'delivery-worker', readConfig: readWorkerConfig, compose: composeDeliveryWorker });
