import { readMongodbSettings } from '@webhooks/mongodb';
import { readSettings } from '@webhooks/runtime';
import { createConnection } from 'mongoose';
import { DATABASE } from './config.js';
import { beginGeneration, generationModelOn } from './projection/generation.js';

// `node services/query-api/dist/src/reset.js`, with the service's MONGODB_URI: everything that Kafka holds is read again.
// The instances that run notice within a second; what is in the database stays and answers meanwhile.

const { uri, database } = readSettings(process.env, (settings) => readMongodbSettings(settings, DATABASE));
const connection = await createConnection(uri, {
  dbName: database,
  serverSelectionTimeoutMS: 10_000,
}).asPromise();
try {
  const generation = await beginGeneration(generationModelOn(connection));
  process.stdout.write(`generation ${generation} begins: everything that Kafka holds is read again\n`);
} finally {
  await connection.close();
}
