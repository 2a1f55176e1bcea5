import type { SettingsReader } from '@webhooks/runtime';

export interface MongodbSettings {
  readonly uri: string;
  /** The database that the connection string names, the service's own when it names none. */
  readonly database: string;
}

const MONGODB_URI = /^mongodb(?:\+srv)?:\/\/[^/?]+(?:\/([^?]*))?(?:\?.*)?$/;

function parseMongoUri(text: string, fallback: string): MongodbSettings {
  const parts = MONGODB_URI.exec(text);
  if (!parts) throw new Error('expected a connection string that begins with mongodb:// or mongodb+srv://');
  return { uri: text, database: decodeURIComponent(parts[1] || fallback) };
}

/** Reads `MONGODB_URI`; `database` is taken when the connection string names none. */
export const readMongodbSettings = (settings: SettingsReader, database: string): MongodbSettings =>
  settings.parsed('MONGODB_URI', undefined, (text) => parseMongoUri(text, database)) ?? { uri: '', database };
