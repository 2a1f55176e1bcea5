import { runService } from '@webhooks/runtime';
import { composeQueryApi, queryApiChecks } from './compose.js';
import { readQueryApiConfig } from './config.js';

await runService({
  name: 'query-api',
  readConfig: readQueryApiConfig,
  compose: composeQueryApi,
  checks: queryApiChecks,
});
