import { createConnection, mongo } from 'mongoose';
import { beginUsage, cpuOf } from '../measure/usage.js';
import type { World } from '../world/world.js';

/** What query-api wrote of a tenant, and what it costs to insert the same once more. */
export interface Inserted {
  readonly documents: number;
  readonly bytes: number;
  /** CPU of the database for bare inserts, in microseconds; 0 when it is none of ours. */
  readonly cpuMicros: number;
}

const DATABASE = 'webhook_query';
/** Documents of one statement, as query-api writes them. */
const STATEMENT = 500;

/** Copies the documents of a tenant into a new collection with the same indexes, by bare inserts. */
async function insertAgain(world: World, source: mongo.Collection, bare: mongo.Collection, tenantId: string) {
  const rows = await source.find({ tenantId }).toArray();
  await bare.createIndexes((await source.indexes()).map(({ v: _version, ...index }) => index));
  const endUsage = beginUsage(world.pids());
  for (let from = 0; from < rows.length; from += STATEMENT)
    await bare.insertMany(rows.slice(from, from + STATEMENT), { ordered: false });
  const { processes } = endUsage(world.pids());
  await bare.drop();
  return {
    documents: rows.length,
    bytes: rows.reduce((sum, row) => sum + mongo.BSON.calculateObjectSize(row), 0),
    cpuMicros: cpuOf(processes, (name) => name === 'mongodb'),
  };
}

/** The events of a tenant and their deliveries. */
export async function insertBare(world: World, tenantId: string): Promise<Inserted> {
  const { mongodbUri } = world.stack.description();
  const writeConcern = { w: 'majority', journal: true } as const;
  const connection = await createConnection(mongodbUri, { dbName: DATABASE, writeConcern }).asPromise();
  const database = connection.getClient().db(DATABASE);
  const again = (name: string) =>
    insertAgain(world, database.collection(name), database.collection(`bench_${name}`), tenantId);
  try {
    const events = await again('events');
    const deliveries = await again('deliveries');
    return {
      documents: events.documents + deliveries.documents,
      bytes: events.bytes + deliveries.bytes,
      cpuMicros: events.cpuMicros + deliveries.cpuMicros,
    };
  } finally {
    await connection.close();
  }
}
