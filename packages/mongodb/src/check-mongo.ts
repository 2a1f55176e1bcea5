import { createConnection } from 'mongoose';
import { describeFault } from './describe-fault.js';
import { OPTIONS, REQUEST_MS, type MongodbSettings } from './open-connection.js';

/**
 * Connects once and lists the collections, which needs the user's rights. Writes nothing. Resolves with a sentence.
 * Rejects with the fault and its fix, within seconds.
 */
export async function checkMongo({ uri, database }: MongodbSettings): Promise<string> {
  const connection = createConnection();
  try {
    await connection.openUri(uri, { ...OPTIONS, socketTimeoutMS: REQUEST_MS, dbName: database });
    await connection.db?.listCollections({}, { nameOnly: true }).toArray();
    return `MongoDB responds, and lists the collections of ${database}`;
  } catch (error) {
    throw new Error(describeFault(error), { cause: error });
  } finally {
    await connection.destroy();
  }
}
