import { withDatabase } from './mongo/start-mongo.js';

/** "host:port" of each broker that the jest global setup of this package has started or found. */
export function testKafkaBrokers(): string[] {
  return fromSetup('TEST_KAFKA_BROKERS').split(',');
}

/** Connection string for `database` of the MongoDB that the jest global setup has started or found. */
export function testMongoUri(database: string): string {
  return withDatabase(fromSetup('TEST_MONGODB_URI'), database);
}

function fromSetup(variable: 'TEST_KAFKA_BROKERS' | 'TEST_MONGODB_URI'): string {
  const value = process.env[variable];
  if (value !== undefined && value !== '') return value;
  throw new Error(
    `${variable} is not set: run jest with packages/tooling/jest.config.mjs, whose setup starts engines`,
  );
}
