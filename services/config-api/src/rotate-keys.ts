import { parseKeyring } from '@webhooks/contracts';
import { readMongodbSettings } from '@webhooks/mongodb';
import { readSettings } from '@webhooks/runtime';
import { createConnection } from 'mongoose';
import { DATABASE } from './config.js';
import { storeWithin } from './store/configuration-store.js';
import { modelOn } from './store/database.js';
import { rotateKeys, type Rotation } from './store/seal-anew.js';

// `node services/config-api/dist/src/rotate-keys.js [--dry-run]`, with the service's MONGODB_URI and SECRETS_KEYS, seals
// with the first key what other keys have sealed. Run it until it says that nothing is left; it may be ended at any time.

/** Deadline of the statements of one page, milliseconds: 500 writes. */
const PAGE_MS = 120_000;

const settings = readSettings(process.env, (reader) => ({
  mongodb: readMongodbSettings(reader, DATABASE),
  keyring: reader.parsed('SECRETS_KEYS', undefined, parseKeyring) ?? { keys: [] },
}));
const isDry = process.argv.includes('--dry-run');
const { uri, database } = settings.mongodb;
const connection = await createConnection(uri, {
  dbName: database,
  serverSelectionTimeoutMS: 10_000,
}).asPromise();
const say = ({ seen, sealed, stale }: Rotation): void => {
  const left = stale === 0 ? '' : `, ${stale} changed meanwhile: run it again`;
  process.stdout.write(`${seen} webhooks: ${sealed} ${isDry ? 'to be sealed' : 'sealed'} anew${left}\n`);
};
try {
  const model = modelOn(connection);
  const store = () => storeWithin(() => model, PAGE_MS);
  const { stale } = await rotateKeys({ keyring: settings.keyring, store, onProgress: say }, isDry);
  process.exitCode = stale === 0 ? 0 : 1;
} finally {
  await connection.close();
}
