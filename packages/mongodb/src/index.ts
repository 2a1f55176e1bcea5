export { openConnection } from './open-connection.js';
export type { KeptConnection, ConnectionOptions } from './open-connection.js';
export { readMongodbSettings } from './mongodb-settings.js';
export type { MongodbSettings } from './mongodb-settings.js';
export { DUPLICATE_KEY, createAsk, isDuplicate } from './ask.js';
export type { Ask } from './ask.js';
