import type { Broker, TopicToCreate } from 'kafkajs/src/cluster/index.js';
import { adminLinkOf, type Kafka } from './create-kafka.js';
import { untilDeadline } from '../deadline.js';
import type { EndOffsets } from '../table-reader-types.js';
import type { Link } from './connect.js';
import { faultOf } from './faults.js';
import { listOffsets, partitionIdsOf } from './offsets.js';

/** A topic as it should be, as plain data. */
export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  /** Default: the broker's own default. */
  readonly replicationFactor?: number;
  readonly configs: Readonly<Record<string, string>>;
}

const BROKER_DEFAULT = -1;
const CREATE_TIMEOUT_MS = 5_000;
const TOPICS_DEADLINE_MS = 30_000;
const OFFSETS_DEADLINE_MS = 5_000;

/**
 * Creates the topics that are missing and returns when they exist: who needs a partition without a leader waits for that one.
 * Topics that exist are left as they are (a difference in partitions is logged); several services may do this at once. Rejects
 * after `deadlineMs` (30,000).
 */
export async function ensureTopics(
  kafka: Kafka,
  specs: readonly TopicSpec[],
  options: { readonly deadlineMs?: number; readonly onFault?: (error: unknown) => void } = {},
): Promise<void> {
  const link = adminLinkOf(kafka);
  const deadlineMs = options.deadlineMs ?? TOPICS_DEADLINE_MS;
  const ensure = async (): Promise<void> => {
    const missing = await missingOf(link, specs);
    if (missing.length > 0) await create(link, missing);
    for (const spec of specs) await expectThere(kafka, link, spec);
  };
  await untilDeadline('ensureTopics', deadlineMs, ensure, options.onFault);
}

async function missingOf(link: Link, specs: readonly TopicSpec[]): Promise<TopicSpec[]> {
  const missing: TopicSpec[] = [];
  for (const spec of specs) {
    if ((await partitionsOf(link, spec.name)) === undefined) missing.push(spec);
  }
  return missing;
}

/** A topic's partitions; undefined when there is no such topic. */
async function partitionsOf(link: Link, topic: string): Promise<readonly unknown[] | undefined> {
  try {
    const broker = await link.cluster.brokerPool.findConnectedBroker();
    const { topicMetadata } = await broker.metadata([topic]);
    return topicMetadata[0]?.partitionMetadata;
  } catch (error) {
    if (faultOf(error).type === 'UNKNOWN_TOPIC_OR_PARTITION') return undefined;
    throw error;
  }
}

function toCreate(spec: TopicSpec): TopicToCreate {
  return {
    topic: spec.name,
    numPartitions: spec.partitions,
    replicationFactor: spec.replicationFactor ?? BROKER_DEFAULT,
    configEntries: Object.entries(spec.configs).map(([name, value]) => ({ name, value })),
  };
}

/** Not through kafkajs' admin: its `waitForLeaders` throws under load although the topic exists. We poll ourselves. */
async function create(link: Link, specs: readonly TopicSpec[]): Promise<void> {
  const request = { topics: specs.map(toCreate), timeout: CREATE_TIMEOUT_MS };
  const broker = await link.cluster.brokerPool.findConnectedBroker();
  try {
    await broker.createTopics(request);
  } catch (error) {
    if (faultOf(error).type === 'NOT_CONTROLLER') await createOnController(link, request);
    else if (!errorsOf(error).every(({ type }) => type === 'TOPIC_ALREADY_EXISTS')) throw error;
  }
}

async function createOnController(link: Link, request: Parameters<Broker['createTopics']>[0]): Promise<void> {
  await link.cluster.refreshMetadata();
  const controller = await link.cluster.findControllerBroker();
  await controller.createTopics(request);
}

/** One error for each topic that was not created (kafkajs throws them as one aggregate). */
function errorsOf(error: unknown) {
  const several = error instanceof Error && 'errors' in error && Array.isArray(error.errors);
  return (several ? (error.errors as unknown[]) : [error]).map(faultOf);
}

async function expectThere(kafka: Kafka, link: Link, spec: TopicSpec): Promise<void> {
  const partitions = (await partitionsOf(link, spec.name)) ?? [];
  if (partitions.length === 0) throw new Error(`topic ${spec.name} is not there yet`);
  if (partitions.length !== spec.partitions) {
    const fields = { topic: spec.name, expected: spec.partitions, found: partitions.length };
    kafka.log('warn', 'kafka: a topic has another number of partitions than the table says', fields);
  }
}

/** The end of each partition now: the offset that the next committed record will get. Rejects after `deadlineMs` (5,000). */
export async function fetchEndOffsets(
  kafka: Kafka,
  topic: string,
  options: { readonly deadlineMs?: number } = {},
): Promise<EndOffsets> {
  const link = adminLinkOf(kafka);
  const { cluster } = link;
  const deadlineMs = options.deadlineMs ?? OFFSETS_DEADLINE_MS;
  let refresh = false;
  return untilDeadline(`end offsets of ${topic}`, deadlineMs, async () => {
    await (refresh ? cluster.refreshMetadata() : cluster.refreshMetadataIfNecessary());
    refresh = true;
    return listOffsets(link, topic, { partitions: await partitionIdsOf(link, topic), earliest: false });
  });
}
