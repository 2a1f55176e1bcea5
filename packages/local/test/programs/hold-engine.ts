// Starts an engine (kafka or mongo) on a data folder, prints its process id, and holds it until it is killed itself.
import { startEmbeddedKafka } from '../../src/kafka/start-kafka.js';
import { startEmbeddedMongo } from '../../src/mongo/start-mongo.js';

const [kind, dataDir = ''] = process.argv.slice(2);
const start = kind === 'kafka' ? startEmbeddedKafka : startEmbeddedMongo;
const engine = await start({ dataDir, log: () => undefined });
process.stdout.write(`${String(engine.pid)}\n`);
