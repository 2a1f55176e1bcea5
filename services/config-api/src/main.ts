import { runService } from '@webhooks/runtime';
import { checks, composeConfigApi } from './compose.js';
import { readConfigApiConfig } from './config.js';

await runService({ name: 'config-api', readConfig: readConfigApiConfig, compose: composeConfigApi, checks });
