import { readMongodbSettings } from '@webhooks/mongodb';
import { readSettings } from '@webhooks/runtime';
import { createConnection } from 'mongoose';
import { DATABASE } from './config.js';
import { positionModelOn } from './projection/positions.js';
import { forgetGeneration } from './projection/generation.js';

// `node services/query-api/dist/src/reset.js`, with the service's MONGODB_URI, begins a new rebuild generation:
// everything that Kafka stores is read again. Running instances exit within seconds, and their supervisor restarts
// them. The documents stay.

const { uri, database } = readSettings(process.env, (settings) => readMongodbSettings(settings, DATABASE));
const connection = await createConnection(uri, {
  dbName: database,
  serverSelectionTimeoutMS: 10_000,
}).asPromise();
try {
  if (!(await forgetGeneration(positionModelOn(connection))))
    throw new Error(
      `no rebuild generation in ${database}: MONGODB_URI must name the database of query-api, ${DATABASE} by default`,
    );
  process.stdout.write('a new rebuild generation begins: everything that Kafka stores is read again\n');
} finally {
  await connection.close();
}
