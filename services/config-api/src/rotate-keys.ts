import { parseKeyring } from '@webhooks/contracts';
import { readMongodbSettings, withConnection } from '@webhooks/mongodb';
import { readSettings } from '@webhooks/runtime';
import { DATABASE } from './config.js';
import { storeWithin } from './store/configuration-store.js';
import { modelOn } from './store/database.js';
import { rotateKeys, type Rotation } from './store/seal-anew.js';

// `node_modules/node/bin/node services/config-api/dist/src/rotate-keys.js [--dry-run]`, with the service's MONGODB_URI and SECRETS_KEYS, seals
// with the first key what other keys have sealed. Run it until it says that nothing is left; it may be ended at any time.

/** Deadline of the statements of one page, milliseconds: 500 writes. */
const PAGE_MS = 120_000;

const settings = readSettings(process.env, (reader) => ({
  mongodb: readMongodbSettings(reader, DATABASE),
  keyring: reader.parsed('SECRETS_KEYS', undefined, parseKeyring) ?? { keys: [] },
}));
const isDry = process.argv.includes('--dry-run');
const say = ({ seen, sealed, stale }: Rotation): void => {
  const left = stale === 0 ? '' : `, ${stale} changed meanwhile: run it again`;
  process.stdout.write(`${seen} webhooks: ${sealed} ${isDry ? 'to be sealed' : 'sealed'} anew${left}\n`);
};
const { stale } = await withConnection(settings.mongodb, modelOn, (model) => {
  const store = () => storeWithin(() => model, PAGE_MS);
  return rotateKeys({ keyring: settings.keyring, store, onProgress: say }, isDry);
});
process.exitCode = stale === 0 ? 0 : 1;
