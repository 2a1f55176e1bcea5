import { runService } from '@webhooks/runtime';
import { checks, composeDeliveryWorker as compose } from './compose.js';
import { readWorkerConfig } from './config.js';

await runService({ name: 'delivery-worker', readConfig: readWorkerConfig, compose, checks });
