import { testKafkaBrokers } from '@webhooks/local';
import { randomName } from '@webhooks/testkit';
import { createKafka, ensureTopics, openSink, type Kafka, type Logger, type Sink } from '../../src/index.js';

const opened: Kafka[] = [];
const sinks: Sink[] = [];

/** A handle on the broker that the whole test run shares. */
export function sharedKafka(log?: Logger): Kafka {
  return kafkaAt(testKafkaBrokers(), log);
}

/** By default a client of its own name: two members of one name are one member that starts again. */
export function kafkaAt(
  brokers: readonly string[],
  log?: Logger,
  clientId = randomName('kafka-test'),
): Kafka {
  const kafka = createKafka({ brokers, clientId, ...(log ? { log } : {}) });
  opened.push(kafka);
  return kafka;
}

/** A sink for all tests of a file; `closeAll` closes it. */
export async function sinkOn(kafka: Kafka): Promise<Sink> {
  const sink = await openSink({ kafka });
  sinks.push(sink);
  return sink;
}

export async function closeAll(): Promise<void> {
  await Promise.all(sinks.splice(0).map((sink) => sink.close()));
  await Promise.all(opened.splice(0).map((kafka) => kafka.close()));
}

/** A topic of our own; returns its name. */
export async function newTopic(
  kafka: Kafka,
  partitions = 1,
  configs: Record<string, string> = {},
): Promise<string> {
  const name = randomName('kafka-test');
  await ensureTopics(kafka, [{ name, partitions, replicationFactor: 1, configs }]);
  return name;
}
