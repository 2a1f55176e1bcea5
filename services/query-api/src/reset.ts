import { readMongodbSettings, withConnection } from '@webhooks/mongodb';
import { readSettings, reportFaults } from '@webhooks/runtime';
import { DATABASE } from './config.js';
import { positionModelOn } from './projection/positions.js';
import { forgetGeneration } from './projection/generation.js';

// `node_modules/node/bin/node services/query-api/dist/src/reset.js`, with the service's MONGODB_URI, begins a new rebuild generation:
// everything that Kafka stores is read again. Running instances exit within seconds, and their supervisor restarts
// them. The documents stay.

reportFaults();
const settings = readSettings(process.env, (reader) => readMongodbSettings(reader, DATABASE));
if (!(await withConnection(settings, positionModelOn, forgetGeneration)))
  throw new Error(
    `no rebuild generation in ${settings.database}: MONGODB_URI must name the database of query-api, ${DATABASE} by default`,
  );
process.stdout.write('a new rebuild generation begins: everything that Kafka stores is read again\n');
