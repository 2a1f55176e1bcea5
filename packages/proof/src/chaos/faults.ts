import { TOPIC_TABLE, configurationKey, encodeEvent, TOPICS } from '@webhooks/contracts';
import { buildEvent, eventually, randomName } from '@webhooks/testkit';
import type { Reply } from '@webhooks/testkit';
import { STALLED_MS, createKafkaClient, readUnhandled, withAdmin } from '@webhooks/testkit/account';
import type { Admin, Transaction } from 'kafkajs';
import { NotNow } from './plan.js';
import type { End, Fault } from './plan.js';
import { planConfigurations } from './world/configurations.js';
import type { ReceiverName } from './world/configurations.js';
import { PROCESSES, runningId, signalProcess, untilBack, whatRuns } from './world/processes.js';
import { LINKS } from './world/world.js';
import type { ReceiverBehaviour } from './world/world.js';
import type { LinkState } from './world/tcp-proxy.js';

/** Other faults may hit Kafka meanwhile, so the work is retried. */
const RETRIES = { timeoutMs: STALLED_MS, message: 'Kafka and config-api have recovered' };

/**
 * Produces one event to a topic in a transaction that stays open. A webhook waits for the event, but no journal has it: a reader of
 * uncommitted records delivers or rejects it. Returns a function that aborts the transaction.
 */
export async function holdTransaction(brokers: readonly string[], topic: string): Promise<End> {
  const kafka = createKafkaClient(brokers, 'chaos-stranger');
  const transactionalId = randomName('stranger');
  /** Runs `work` in a transaction. A producer that connects with this id aborts the id's open transaction (KIP-98). */
  const withTransaction = async (work: (transaction: Transaction) => Promise<unknown>): Promise<void> => {
    const producer = kafka.producer({ transactionalId, idempotent: true });
    try {
      await producer.connect();
      await work(await producer.transaction());
    } finally {
      await producer.disconnect();
    }
  };
  const value = encodeEvent(buildEvent({ tenantId: 'acme', eventType: 'PIX_DYNAMIC_PAID' }));
  const messages = [{ key: transactionalId, value }];
  await eventually(() => withTransaction((transaction) => transaction.send({ topic, messages })), RETRIES);
  return () => eventually(() => withTransaction(() => Promise.resolve()), RETRIES);
}

/** Deletes the topic of webhooks. Returns a function that recreates it empty, and resolves when each webhook is on it again. */
async function deleteConfigurations(brokers: readonly string[], topic: string): Promise<End> {
  const topics = TOPIC_TABLE.filter(({ name }) => name === topic).map(({ partitions, configs }) => ({
    ...{ topic, numPartitions: partitions },
    configEntries: Object.entries(configs).map(([name, value]) => ({ name, value })),
  }));
  const fill = async (): Promise<void> => {
    await withAdmin(brokers, (admin) => admin.createTopics({ topics }));
    const keys = new Set<string>();
    await readUnhandled(brokers, { topics: [topic] }, ({ message }) => keys.add(String(message.key)));
    const wanted = planConfigurations().map(({ tenantId, ref }) => configurationKey(tenantId, ref));
    if (!wanted.every((key) => keys.has(key))) throw new Error(`${topic} lacks webhooks`);
  };
  const clear = async (admin: Admin): Promise<void> => {
    if ((await admin.listTopics()).includes(topic)) await admin.deleteTopics({ topics: [topic] });
  };
  await eventually(() => withAdmin(brokers, clear), RETRIES);
  return () => eventually(fill, RETRIES);
}

/** Ends a process by a signal; the stack restarts it. */
const endProcess = (about: Pick<Fault, 'name' | 'weight'>, signal: 'SIGKILL' | 'SIGTERM'): Fault => ({
  ...about,
  track: 'system',
  targets: PROCESSES,
  lasts: [0, 0],
  begin: (target, world) => {
    const pid = runningId(world, target);
    signalProcess(world, target, signal);
    return () => untilBack(world, new Map([[target, pid]]));
  },
});

/** Sends SIGKILL to all processes at once, as a power failure does. */
const killEverything: Fault = {
  name: 'kill-everything',
  track: 'system',
  weight: 1,
  targets: ['everything'],
  lasts: [0, 0],
  begin: (_target, world) => {
    const before = whatRuns(world);
    if (before.size === 0) throw new NotNow('nothing runs');
    for (const name of before.keys()) signalProcess(world, name, 'SIGKILL');
    return () => untilBack(world, before);
  },
};

/** Sends SIGSTOP and later SIGCONT: a paused machine that resumes and believes that no time has passed. */
const freeze: Fault = {
  name: 'freeze',
  track: 'system',
  weight: 3,
  targets: PROCESSES,
  lasts: [1_000, 60_000],
  begin: (target, world) => {
    const pid = runningId(world, target);
    signalProcess(world, target, 'SIGSTOP');
    return () => {
      if (whatRuns(world).get(target) === pid) signalProcess(world, target, 'SIGCONT');
    };
  },
};

const THIRD_WORKER = 'delivery-worker-3';

/**
 * Starts a third worker and stops it, so the partitions of all three groups are reassigned twice. A worker that finds no broker joins no
 * group.
 */
const rebalance: Fault = {
  name: 'rebalance',
  track: 'system',
  weight: 2,
  targets: [THIRD_WORKER],
  lasts: [3_000, 20_000],
  begin: (_target, { stack }) => {
    const starting = stack.fleet.startReplica({ name: THIRD_WORKER, like: 'delivery-worker' }).then(
      () => undefined,
      (error: unknown) => new NotNow(String(error)),
    );
    return async () => {
      const obstacle = await starting;
      await stack.fleet.stop(THIRD_WORKER);
      if (obstacle) throw obstacle;
    };
  },
};

const BROKER = 'kafka';

/** A fault of the network between services and engines: on one link, or on all links to the broker. */
const breakLinks = (name: string, state: LinkState): Fault => ({
  name,
  track: 'system',
  weight: 2,
  targets: [BROKER, ...LINKS],
  lasts: [500, 60_000],
  begin: (target, world) => {
    const isHit = (name: string): boolean => (target === BROKER ? name !== 'mongodb' : name === target);
    const links = LINKS.filter(isHit).map((name) => world.links[name]);
    for (const link of links) link.become(state);
    return () => {
      for (const link of links) link.become('open');
    };
  },
});

const FLAKY: readonly [ReceiverName, ...ReceiverName[]] = ['flaky-1', 'flaky-2'];

/** A receiver behaves in this way for a while. */
const misbehave = (name: string, behaviour: ReceiverBehaviour): Fault => ({
  name,
  track: 'receivers',
  weight: 1,
  targets: FLAKY,
  lasts: [2_000, 30_000],
  begin: async (target, { receivers }) => {
    const receiver = receivers[target as ReceiverName];
    await receiver.become(behaviour);
    return () => receiver.become({});
  },
});

const STAGES = ['before-response', 'in-headers', 'in-body'] as const;

/** Replies that are sent in turn: a redirect, an endless Retry-After, invalid HTTP, errors, and a 200. */
const WRONG: readonly (number | Reply)[] = [
  { kind: 'status', status: 302, headers: { location: 'https://localhost/elsewhere' } },
  { kind: 'status', status: 429, headers: { 'retry-after': '99999999' } },
  { kind: 'raw', bytes: 'this is not HTTP\r\n\r\n', then: 'end' },
  ...[404, 500, 503, 200],
];

/** A foreign producer holds a transaction open. There is one fault for each topic, so that every topic has its turn. */
const foreignTransaction = (topic: string): Fault => ({
  name: 'foreign-transaction',
  track: 'topics',
  weight: 1,
  targets: [topic],
  // Milliseconds: long enough to stall readers, and short enough that twenty of them with their gaps fill two minutes.
  lasts: [1_000, 3_000],
  begin: (target, { stack }) => holdTransaction(stack.description().kafkaBrokers, target),
});

/** Deletes the topic of webhooks and recreates it empty. config-api has to fill it, and workers have to retain the webhooks they know. */
const remakeTopic: Fault = {
  name: 'remake-topic',
  track: 'topics',
  weight: 1,
  targets: [TOPICS.configurations],
  // Milliseconds: readers list it every 350 ms, so some see the deletion and some do not.
  lasts: [0, 3_000],
  begin: (target, { stack }) => deleteConfigurations(stack.description().kafkaBrokers, target),
};

/** All faults; `--faults` selects them by name. */
export const FAULTS: readonly Fault[] = [
  endProcess({ name: 'kill', weight: 8 }, 'SIGKILL'),
  endProcess({ name: 'terminate', weight: 2 }, 'SIGTERM'),
  killEverything,
  freeze,
  rebalance,
  /** Connections are reset and refused. */
  breakLinks('cut-network', 'cut'),
  /** Connections stay open and transmit nothing, so a client that waits for a response has only its own deadline. */
  breakLinks('half-open-network', 'half-open'),
  misbehave('receiver-refuses', { closed: true }),
  misbehave('receiver-breaks-handshakes', { connection: 'reset-in-handshake' }),
  misbehave('receiver-hangs', { reply: { kind: 'hang' } }),
  misbehave('receiver-resets', {
    reply: ({ index }) => ({ kind: 'cut', stage: STAGES[index % STAGES.length] ?? 'in-body' }),
  }),
  misbehave('receiver-responds-wrongly', { reply: ({ index }) => WRONG[index % WRONG.length] ?? 500 }),
  ...TOPIC_TABLE.map(({ name }) => foreignTransaction(name)),
  remakeTopic,
];
