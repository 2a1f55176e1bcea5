import { parseKeyring } from '@webhooks/contracts';
import { readMongodbSettings, withConnection } from '@webhooks/mongodb';
import { readSettings, reportFaults } from '@webhooks/runtime';
import { DATABASE } from './config.js';
import { storeWithin } from './store/configuration-store.js';
import { modelOn } from './store/database.js';
import { rotateKeys } from './store/seal-anew.js';

// `node_modules/node/bin/node services/config-api/dist/src/rotate-keys.js [--dry-run]`, with the service's MONGODB_URI and SECRETS_KEYS, seals
// with the first key what other keys have sealed. Run it until it says that nothing is left; it may be ended at any time.

/** Deadline of the statements of one page, milliseconds: 500 writes. */
const PAGE_MS = 120_000;

reportFaults();
const settings = readSettings(process.env, (reader) => ({
  mongodb: readMongodbSettings(reader, DATABASE),
  keyring: reader.parsed('SECRETS_KEYS', undefined, parseKeyring) ?? { keys: [] },
}));
const isDry = process.argv.includes('--dry-run');
await withConnection(settings.mongodb, modelOn, async (model) => {
  const storeFor = () => storeWithin(() => model, PAGE_MS);
  for await (const { seen, sealed, stale } of rotateKeys(settings.keyring, storeFor, isDry)) {
    const left = stale === 0 ? '' : `, ${stale} changed meanwhile: run it again`;
    process.stdout.write(`${seen} webhooks: ${sealed} ${isDry ? 'to be sealed' : 'sealed'} anew${left}\n`);
    process.exitCode = stale === 0 ? 0 : 1;
  }
});
