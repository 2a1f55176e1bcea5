import { runService } from '@webhooks/runtime';
import { checks, composeQueryApi } from './compose.js';
import { readQueryApiConfig } from './config.js';

await runService({ name: 'query-api', readConfig: readQueryApiConfig, compose: composeQueryApi, checks });
