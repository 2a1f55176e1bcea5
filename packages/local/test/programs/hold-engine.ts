// Starts an engine (kafka or mongo) on a data folder, prints its process id and its port, and holds it until it is killed itself.
import { startEmbeddedKafka } from '../../src/kafka/start-kafka.js';
import { startEmbeddedMongo } from '../../src/mongo/start-mongo.js';

const [kind, dataDir = '', preferred] = process.argv.slice(2);
const options = {
  dataDir,
  ...(preferred === undefined ? {} : { port: Number(preferred) }),
  log: () => undefined,
};
const hold = (pid: number | undefined, address = ''): void =>
  void process.stdout.write(`${String(pid)} ${/:(\d+)/.exec(address)?.[1] ?? ''}\n`);
if (kind === 'kafka') {
  const { pid, brokers } = await startEmbeddedKafka(options);
  hold(pid, brokers[0]);
} else {
  const mongo = await startEmbeddedMongo(options);
  hold(mongo.pid, mongo.uri());
}
