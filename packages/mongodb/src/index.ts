export {
  REQUEST_MS,
  checkMongo,
  openConnection,
  readMongodbSettings,
  withConnection,
} from './open-connection.js';
export type { ConnectionOptions, MongodbSettings } from './open-connection.js';
export { DUPLICATE_KEY, createRunQuery, isDuplicate, type RunQuery } from './run-query.js';
