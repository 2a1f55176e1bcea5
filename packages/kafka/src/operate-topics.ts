import { createKafka, type Kafka } from './kafkajs/create-kafka.js';
import { replicated, type KafkaSettings } from './connect-kafka.js';
import { countPartitions, ensureTopics, settingsOf, type TopicSpec } from './kafkajs/topics.js';
import { OFFSETS_DEADLINE_MS } from './limits.js';

/**
 * Compares a topic with its specification. `partitions` 0: the topic is missing. `settings`: name, value and expected
 * value of those that are different.
 */
async function compareOne(kafka: Kafka, spec: TopicSpec) {
  const partitions = await countPartitions(kafka.adminConnections, spec.name, OFFSETS_DEADLINE_MS);
  if (partitions === 0) return { spec, partitions, settings: [] };
  const wanted = Object.entries(spec.configs);
  const found = await settingsOf(kafka, spec.name, Object.keys(spec.configs));
  const settings = wanted.map(([name, value]) => [name, found.get(name), value] as const);
  return { spec, partitions, settings: settings.filter(([, now, value]) => now !== value) };
}

type Difference = Awaited<ReturnType<typeof compareOne>>;

async function compareTopics(kafka: Kafka, specs: readonly TopicSpec[]): Promise<readonly Difference[]> {
  await kafka.adminConnections.cluster.connect();
  const compared = await Promise.all(specs.map((spec) => compareOne(kafka, spec)));
  return compared.filter(
    ({ spec, partitions, settings }) => partitions !== spec.partitions || settings.length > 0,
  );
}

/** What `apply` does about a difference, or what a person has to do. */
function* linesOf({ spec, partitions, settings }: Difference): Generator<string> {
  const { name, partitions: wanted } = spec;
  if (partitions === 0) yield `create   ${name}: ${wanted} partitions`;
  else if (partitions < wanted) yield `add      ${name}: ${partitions} partitions become ${wanted}`;
  else if (partitions > wanted)
    yield `leave    ${name}: ${partitions} partitions, expected ${wanted}; Kafka removes none`;
  for (const [setting, found, value] of settings)
    yield `differs  ${name}: ${setting} is ${found}; to change it: kafka-configs.sh --bootstrap-server … --alter --entity-type topics --entity-name ${name} --add-config ${setting}=${value}`;
}

async function apply(kafka: Kafka, specs: readonly TopicSpec[], found: readonly Difference[]): Promise<void> {
  const fewer = found.filter(({ spec, partitions }) => partitions > 0 && partitions < spec.partitions);
  const topicPartitions = fewer.map(({ spec: { name, partitions } }) => ({ topic: name, count: partitions }));
  if (fewer.length > 0) await kafka.admin().createPartitions({ topicPartitions });
  await ensureTopics(kafka, specs);
}

/**
 * Compares topics with their specification and prints a line for each difference. Unless `isPlan`, it creates what is
 * missing and adds partitions; it changes no setting, because a shorter retention deletes records. Resolves with the
 * exit code: 1 when a plan is not empty. Rejects when Kafka does not respond, or refuses.
 */
export async function operateTopics(settings: KafkaSettings, topics: readonly TopicSpec[], isPlan: boolean) {
  const specs = replicated(topics, settings);
  const kafka = createKafka(settings);
  try {
    const found = await compareTopics(kafka, specs);
    for (const line of found.flatMap((one) => [...linesOf(one)])) process.stdout.write(`${line}\n`);
    if (!isPlan) await apply(kafka, specs, found);
    else if (found.length > 0) return 1;
    process.stdout.write(`${specs.length} topics are there\n`);
    return 0;
  } finally {
    await kafka.close();
  }
}
