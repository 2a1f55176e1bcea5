export {
  REQUEST_MS,
  openConnection,
  type ConnectionOptions,
  readMongodbSettings,
  type MongodbSettings,
} from './open-connection.js';
export { DUPLICATE_KEY, createRunQuery, isDuplicate, type RunQuery } from './run-query.js';
