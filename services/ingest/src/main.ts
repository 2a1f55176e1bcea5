import { runService } from '@webhooks/runtime';
import { composeIngest, ingestChecks } from './compose.js';
import { readIngestConfig } from './config.js';

await runService({
  name: 'ingest',
  readConfig: readIngestConfig,
  compose: composeIngest,
  checks: ingestChecks,
});
