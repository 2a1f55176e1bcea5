export { REQUEST_MS, openConnection } from './open-connection.js';
export type { ConnectionOptions } from './open-connection.js';
export { readMongodbSettings } from './mongodb-settings.js';
export type { MongodbSettings } from './mongodb-settings.js';
export { DUPLICATE_KEY, createAsk, isDuplicate } from './ask.js';
export type { Ask } from './ask.js';
