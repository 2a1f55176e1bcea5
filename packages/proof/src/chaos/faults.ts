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
import type { Manners } from './world/world.js';
import type { LinkState } from './world/tcp-proxy.js';

/** Other faults may hit Kafka meanwhile: then it is tried again. */
const AGAIN = { timeoutMs: STALLED_MS, message: 'Kafka and config-api do their part' };

/**
 * Gives one event, which a webhook waits for and no journal has, to a topic in a transaction that stays open. Whoever reads it
 * all the same delivers what was never sent, or rejects it. Returns how to abort it.
 */
export async function holdTransaction(brokers: readonly string[], topic: string): Promise<End> {
  const kafka = createKafkaClient(brokers, 'chaos-stranger');
  const transactionalId = randomName('stranger');
  /** Whoever takes the id up aborts what was left open under it (KIP-98). */
  const takeUp = async (work: (transaction: Transaction) => Promise<unknown>): Promise<void> => {
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
  await eventually(() => takeUp((transaction) => transaction.send({ topic, messages })), AGAIN);
  return () => eventually(() => takeUp(() => Promise.resolve()), AGAIN);
}

/** Deletes the topic of webhooks. Returns how to make it anew, empty; that resolves when each webhook is on it again. */
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
  await eventually(() => withAdmin(brokers, clear), AGAIN);
  return () => eventually(fill, AGAIN);
}

/** A signal that ends a process; the stack starts it again. */
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

/** SIGKILL to all that runs at once, as when the power fails. */
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

/** SIGSTOP and, later, SIGCONT: a machine that was paused comes back and believes that nothing has happened. */
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

/** One more worker comes and goes: partitions of all three groups change hands twice. One that finds no broker has joined nothing. */
const rebalance: Fault = {
  name: 'rebalance',
  track: 'system',
  weight: 2,
  targets: [THIRD_WORKER],
  lasts: [3_000, 20_000],
  begin: (_target, { stack }) => {
    const coming = stack.fleet
      .startReplica({ name: THIRD_WORKER, like: 'delivery-worker' })
      .catch(() => undefined);
    return async () => {
      await coming;
      await stack.fleet.stop(THIRD_WORKER);
    };
  },
};

const BROKER = 'kafka';

/** A fault of the network between services and engines, on one link or on all that lead to the broker. */
const spoilLinks = (name: string, state: LinkState): Fault => ({
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

/** A receiver has these manners for a while. */
const misbehave = (name: string, manners: Manners): Fault => ({
  name,
  track: 'receivers',
  weight: 1,
  targets: FLAKY,
  lasts: [2_000, 30_000],
  begin: async (target, { receivers }) => {
    const receiver = receivers[target as ReceiverName];
    await receiver.become(manners);
    return () => receiver.become({});
  },
});

const STAGES = ['before-response', 'in-headers', 'in-body'] as const;

/** Everything but a plain 2xx, in turn, and some of those. */
const WRONG: readonly (number | Reply)[] = [
  { kind: 'status', status: 302, headers: { location: 'https://localhost/elsewhere' } },
  { kind: 'status', status: 429, headers: { 'retry-after': '99999999' } },
  { kind: 'raw', bytes: 'this is not HTTP\r\n\r\n', then: 'end' },
  ...[404, 500, 503, 200],
];

/** A producer that is no part of the system holds a transaction open. One fault for each topic, so that all have their turn. */
const foreignTransaction = (topic: string): Fault => ({
  name: 'foreign-transaction',
  track: 'topics',
  weight: 1,
  targets: [topic],
  // Milliseconds: so long that readers stand still, so short that twenty of them and the gaps between fill two minutes.
  lasts: [1_000, 3_000],
  begin: (target, { stack }) => holdTransaction(stack.description().kafkaBrokers, target),
});

/** Somebody deletes the topic of webhooks and makes it anew, empty; config-api has to fill it, and workers have to keep what they know. */
const remakeTopic: Fault = {
  name: 'remake-topic',
  track: 'topics',
  weight: 1,
  targets: [TOPICS.configurations],
  // Milliseconds: readers look each 700 ms, so some see the deletion and some do not.
  lasts: [0, 3_000],
  begin: (target, { stack }) => deleteConfigurations(stack.description().kafkaBrokers, target),
};

/** Every fault there is, by the name that `--faults` takes. */
export const FAULTS: readonly Fault[] = [
  endProcess({ name: 'kill', weight: 8 }, 'SIGKILL'),
  endProcess({ name: 'terminate', weight: 2 }, 'SIGTERM'),
  killEverything,
  freeze,
  rebalance,
  /** Connections are reset and refused. */
  spoilLinks('cut-network', 'cut'),
  /** Connections stay and nothing comes through: who waits for a response has only its own deadline. */
  spoilLinks('half-open-network', 'half-open'),
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
