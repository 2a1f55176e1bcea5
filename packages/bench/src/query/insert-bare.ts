import { createConnection, mongo } from 'mongoose';
import { beginUsage, cpuOf } from '../measure/usage.js';
import type { World } from '../world/world.js';

const DATABASE = 'webhook_query';
/** Documents of one statement, as query-api writes them. */
const STATEMENT = 500;

/**
 * Copies the events of a tenant and their deliveries into new collections with the same indexes, by bare inserts. Gives their
 * number, their bytes, and what the database took for that: microseconds of CPU, 0 when it is none of ours.
 */
export async function insertBare(world: World, tenantId: string) {
  const { mongodbUri } = world.stack.description();
  const writeConcern = { w: 'majority', journal: true } as const;
  const connection = await createConnection(mongodbUri, { dbName: DATABASE, writeConcern }).asPromise();
  const database = connection.getClient().db(DATABASE);
  let [documents, bytes, cpuMicros] = [0, 0, 0];
  try {
    for (const name of ['events', 'deliveries']) {
      const source = database.collection(name);
      const rows = await source.find({ tenantId }).toArray();
      const bare = database.collection(`bench_${name}`);
      await bare.createIndexes((await source.indexes()).map(({ v: _version, ...index }) => index));
      const endUsage = beginUsage(world.pids());
      for (let from = 0; from < rows.length; from += STATEMENT)
        await bare.insertMany(rows.slice(from, from + STATEMENT), { ordered: false });
      cpuMicros += cpuOf(endUsage(world.pids()).processes, (process) => process === 'mongodb');
      await bare.drop();
      documents += rows.length;
      bytes += rows.reduce((sum, row) => sum + mongo.BSON.calculateObjectSize(row), 0);
    }
    return { documents, bytes, cpuMicros };
  } finally {
    await connection.close();
  }
}
