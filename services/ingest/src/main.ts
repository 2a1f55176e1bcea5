import { runService } from '@webhooks/runtime';
import { checks, composeIngest } from './compose.js';
import { readIngestConfig } from './config.js';

await runService({ name: 'ingest', readConfig: readIngestConfig, compose: composeIngest, checks });
