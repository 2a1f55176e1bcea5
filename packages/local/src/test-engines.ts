import { MongoClient } from 'mongodb';
import { errorText } from './engine/command.js';
import { namedAddress } from './engine/engine-lifecycle.js';
import { READY_DEADLINE_MS, untilClear } from './engine/wait.js';
import { withAdmin } from './kafka/broker-process.js';
import { withDatabase } from './mongo/start-mongo.js';

/** "host:port" of each broker of this jest worker's Kafka, which the jest global setup of this package has started or found. */
export function testKafkaBrokers(): string[] {
  return fromSetup('TEST_KAFKA_BROKERS').split(',');
}

/** Connection string for `database` of this jest worker's MongoDB, which the jest global setup has started or found. */
export function testMongoUri(database: string): string {
  return withDatabase(fromSetup('TEST_MONGODB_URI'), database);
}

/** The setup names an engine for each jest worker, separated by spaces, or one for all. */
function fromSetup(variable: 'TEST_KAFKA_BROKERS' | 'TEST_MONGODB_URI'): string {
  const engines = process.env[variable]?.split(' ') ?? [];
  const engine = engines[(Number(process.env['JEST_WORKER_ID']) - 1) % engines.length];
  if (engine !== undefined && engine !== '') return engine;
  throw new Error(
    `${variable} is not set: run jest with packages/tooling/jest.config.mjs, whose setup starts engines`,
  );
}

/**
 * Deletes all topics, groups and databases of this jest worker's engines and returns their addresses. For a test that needs a whole Kafka, at a
 * tenth of what another broker costs. Throws when the environment names one of the engines, because its data may be somebody's.
 */
export async function emptyTestEngines(): Promise<{ kafkaBrokers: string[]; mongodbUri: string }> {
  for (const variable of ['KAFKA_BROKERS', 'MONGODB_URI'] as const)
    if (namedAddress(variable) !== undefined)
      throw new Error(`this test deletes all data of its engines: unset ${variable}`);
  const engines = { kafkaBrokers: testKafkaBrokers(), mongodbUri: fromSetup('TEST_MONGODB_URI') };
  await Promise.all([emptyKafka(engines.kafkaBrokers), dropDatabases(engines.mongodbUri)]);
  return engines;
}

const emptyKafka = (brokers: readonly string[]): Promise<void> =>
  withAdmin(brokers, async (admin) => {
    const listTopics = async () => (await admin.listTopics()).filter((topic) => !topic.startsWith('__'));
    const topics = await listTopics();
    if (topics.length > 0) await admin.deleteTopics({ topics });
    // The broker lists them for up to 2 s more. A service that starts meanwhile would not create them.
    const findTopics = async () => (await listTopics()).join(', ') || undefined;
    const deleteGroups = async (): Promise<string | undefined> => {
      const groupIds = (await admin.listGroups()).groups.map(({ groupId }) => groupId);
      return admin.deleteGroups(groupIds).then(() => undefined, errorText);
    };
    const wait = { deadlineMs: READY_DEADLINE_MS, everyMs: 250 };
    // A killed process stays a member of its group until its session ends.
    const obstacle = (await untilClear(findTopics, wait)) ?? (await untilClear(deleteGroups, wait));
    if (obstacle !== undefined) throw new Error(`earlier topics or groups cannot be deleted: ${obstacle}`);
  });

const SYSTEM_DATABASES = ['admin', 'config', 'local'];

async function dropDatabases(uri: string): Promise<void> {
  const client = new MongoClient(uri);
  const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
  const names = databases.map(({ name }) => name).filter((name) => !SYSTEM_DATABASES.includes(name));
  for (const name of names) await client.db(name).dropDatabase();
  await client.close();
}
