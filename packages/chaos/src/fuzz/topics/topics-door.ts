import { setTimeout as delay } from 'node:timers/promises';
import type { Producer } from 'kafkajs';
import { EVENT_TYPES, TOPICS, TOPIC_TABLE, configurationKey, encodeEvent } from '@webhooks/contracts';
import { createPaymentProducer, refOf } from '@webhooks/ledger';
import { buildEvent } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import type { Batch, Door } from '../door.js';
import { FUZZ_TENANTS } from '../fuzz-world.js';
import type { FuzzWorld } from '../fuzz-world.js';
import { IN_FORCE_MS } from '../../in-force.js';
import { documentOf } from '../http/documents.js';
import type { Notes } from '../notes.js';
import { followRecords } from './follow-records.js';
import type { Following } from './follow-records.js';
import type { FuzzRecord, WrittenRecord } from './fuzz-record.js';
import { judgeConfigurations, takeBack } from './judge-configurations.js';
import type { ConfigurationPorts } from './judge-configurations.js';
import { judgeLog } from './judge-log.js';
import { isSettled, judgeRecords, pathOf } from './judge-records.js';
import type { Outcome } from './judge-records.js';
import { makeRecord } from './make-record.js';
import type { RecordContext } from './make-record.js';
import { Seen } from './seen.js';
import { untilHandled } from './until-handled.js';

const PROBE_DEADLINE_MS = 30_000;
/** Above all five retries of a task (`fuzz-world.ts`). */
const SETTLED_DEADLINE_MS = 15_000;
const LOOK_MS = 100;

const ATTACKED_REF = refOf('/fuzz/attacked');
const ATTACKED_KEY = configurationKey(FUZZ_TENANTS.attacked, ATTACKED_REF);
const refFor = (eventType: string): string => refOf(`/fuzz/topics/${eventType}`);

async function registerAll(world: FuzzWorld, { origin }: Endpoint): Promise<void> {
  for (const eventType of EVENT_TYPES)
    await world
      .clientOf(FUZZ_TENANTS.topics)
      .register({ ref: refFor(eventType), eventType, endpointUrl: `${origin}${pathOf({ eventType })}` });
  const attacked = { ref: ATTACKED_REF, eventType: 'PIX_OUT', endpointUrl: `${origin}/attacked/0` } as const;
  await world.clientOf(FUZZ_TENANTS.attacked).register(attacked);
  await delay(IN_FORCE_MS);
}

/** Ids that arrived, by path. */
class Arrivals {
  readonly byPath = new Map<string, Set<string>>();

  note(path: string, id: string): void {
    this.byPath.set(path, (this.byPath.get(path) ?? new Set()).add(id));
  }

  has(path: string, id: string): boolean {
    return this.byPath.get(path)?.has(id) ?? false;
  }
}

/** Waits until each task has come to its end, for 15 s at most. */
async function untilSettled(records: readonly WrittenRecord[], outcome: Outcome): Promise<void> {
  const deadline = performance.now() + SETTLED_DEADLINE_MS;
  while (!isSettled(records, outcome) && performance.now() < deadline) await delay(LOOK_MS);
}

interface Parts {
  readonly world: FuzzWorld;
  readonly producer: Producer;
  readonly following: Following;
  readonly seen: Seen;
  readonly arrivals: Arrivals;
  readonly context: RecordContext;
  readonly token: string;
}

class TopicsDoor implements Door {
  readonly name = 'topics';
  readonly batchSize = 200;
  readonly #parts: Parts;
  #turn = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async take({ from, to, randomOf }: Batch, notes: Notes): Promise<void> {
    const { seen, arrivals, world } = this.#parts;
    this.#turn += 1;
    const records: WrittenRecord[] = [];
    for (let index = from; index < to; index += 1)
      records.push(await this.#write(makeRecord(randomOf(index), this.#parts.context, index)));
    const probes = await this.#probe(to - 1, notes);
    for (const behind of await untilHandled(world.stack, records))
      notes.found(to - 1, `not handled within a minute: ${behind}`, '');
    await this.#parts.following.untilEnd();
    const outcome = { seen, arrived: arrivals.byPath, refOf: refFor, notes };
    await untilSettled(records, outcome);
    judgeRecords(records, probes, outcome);
    await judgeLog(records, this.#logReader(), notes);
    await judgeConfigurations(records, this.#turn, this.#configurationPorts(), notes);
    await this.#takeBack(records);
    seen.forget();
    arrivals.byPath.clear();
  }

  async close(): Promise<void> {
    await this.#parts.following.close();
    await this.#parts.producer.disconnect();
  }

  /** One record in one request, so that the broker says where it stands. */
  async #write(record: FuzzRecord): Promise<WrittenRecord> {
    const { topic, partition, key, value, headers } = record;
    const messages = [{ partition, key, value, headers }];
    const [written] = await this.#parts.producer.send({ topic, acks: -1, messages });
    return { ...record, offset: Number(written?.baseOffset ?? -1) };
  }

  /** A valid event in each partition behind the mutants: all of them arrive. */
  async #probe(index: number, notes: Notes): Promise<ReadonlySet<string>> {
    const partitions = TOPIC_TABLE.find(({ name }) => name === TOPICS.events)?.partitions ?? 0;
    const events = Array.from({ length: partitions }, () => buildEvent({ tenantId: FUZZ_TENANTS.topics }));
    for (const [partition, event] of events.entries())
      await this.#parts.producer.send({
        topic: TOPICS.events,
        acks: -1,
        messages: [{ partition, key: event.data.endToEndId, value: encodeEvent(event) }],
      });
    const missing = (): number =>
      events.filter((event) => !this.#parts.arrivals.has(pathOf(event), event.id)).length;
    const deadline = performance.now() + PROBE_DEADLINE_MS;
    while (missing() > 0 && performance.now() < deadline) await delay(LOOK_MS);
    if (missing() > 0) notes.found(index, `${missing()} valid events behind the records did not arrive`, '');
    return new Set(events.map(({ id }) => id));
  }

  async #takeBack(records: readonly WrittenRecord[]): Promise<void> {
    const messages = takeBack(records);
    if (messages.length === 0) return;
    await this.#parts.producer.send({ topic: TOPICS.configurations, acks: -1, messages });
    await delay(IN_FORCE_MS);
  }

  #logReader() {
    const { world, token } = this.#parts;
    return { origin: world.stack.description().queryApi ?? '', token, document: documentOf('query-api') };
  }

  #configurationPorts(): ConfigurationPorts {
    const { world, arrivals, context } = this.#parts;
    return {
      clientOf: world.clientOf,
      origin: context.origin,
      attackedRef: ATTACKED_REF,
      arrived: (path, id) => arrivals.has(path, id),
      mutantPaths: (id) =>
        [...arrivals.byPath].flatMap(([path, ids]) =>
          path.startsWith('/mutant/') && ids.has(id) ? [path] : [],
        ),
    };
  }
}

/** Records of every topic, valid, damaged and nonsense, by a producer that may write all of them. */
export async function openTopicsDoor(world: FuzzWorld): Promise<Door> {
  const { kafkaBrokers } = world.stack.description();
  const arrivals = new Arrivals();
  const seen = new Seen();
  const endpoint = await world.openEndpoint(({ path, id }) => {
    arrivals.note(path, id);
    return 200;
  });
  await registerAll(world, endpoint);
  const producer = createPaymentProducer(kafkaBrokers, 'fuzzer');
  await producer.connect();
  const written = [TOPICS.rejected, TOPICS.deadLetters, TOPICS.attempts];
  const following = await followRecords(kafkaBrokers, written, (record) => seen.note(record));
  const context = { refOf: refFor, attackedKey: ATTACKED_KEY, origin: endpoint.origin };
  const token = await world.clientOf(FUZZ_TENANTS.topics).token();
  return new TopicsDoor({ world, producer, following, seen, arrivals, context, token });
}
