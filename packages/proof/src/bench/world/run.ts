import { setTimeout as delay } from 'node:timers/promises';
import { RETRY_TIERS, TOPICS, deliveryIdOf } from '@webhooks/contracts';
import { PAYMENT_SYSTEM } from '@webhooks/local';
import { DeliveryAccount, STALLED_MS, clientFor, readUnhandled, untilNone } from '@webhooks/testkit/account';
import type { HandledPlace } from '@webhooks/testkit/account';
import type { Load, LoadPlan } from '../load/generator.js';
import { REPORT_EVERY_MS, startGenerator } from '../load/processes.js';
import type { Generator } from '../load/processes.js';
import type { TargetPlan } from '../load/send.js';
import { beginUsage, VoidRun, voidReason } from '../measure.js';
import type { Pids } from '../measure.js';
import type { BenchEndpoint, Endpoints, World } from './world.js';

/** Options of a run. By default its events go to the topic. */
export interface RunOptions extends Partial<Pick<LoadPlan, 'seed' | 'target' | 'warmUp' | 'foreignKeys'>> {
  /** A run without a new delivery for this long is over; default two minutes. */
  readonly stalledMs?: number;
  /** Called when the load begins; the run waits for its promise. `sent` resolves when all events are acknowledged. */
  readonly meanwhile?: (sent: Promise<Load>) => Promise<unknown>;
  /** Called when everything is delivered. The usage of processes is measured until its promise resolves. */
  readonly whenDelivered?: () => Promise<unknown>;
  /** Paths of endpoints that still fail at the end of the run. Their missing deliveries must be found in Kafka. Default: none. */
  readonly mayWait?: (path: string) => boolean;
}

/** A delivery is in none of the searched topics from its first attempt (up to 10 s) until its retry is published. */
const IN_NO_TOPIC_MS = 30_000;

let seeds = 0;
/** A seed that no other run of this process has. */
export const nextSeed = (): number => (seeds += 1);

/** Topics in which deliveries wait, and the prefix of the groups that handle them. */
const PLACE: HandledPlace = {
  topics: [TOPICS.deliveries, ...RETRY_TIERS.map(({ topic }) => topic)],
  groupPrefix: 'delivery-worker',
};

/** Returns the ids of deliveries that wait in Kafka: unhandled records in a retry tier or in `webhooks.deliveries`. */
export async function findWaiting(brokers: readonly string[], place = PLACE): Promise<ReadonlySet<string>> {
  const waiting = new Set<string>();
  await readUnhandled(brokers, place, ({ message: { headers } }) => {
    const id = headers?.['delivery-id'];
    if (id !== undefined) waiting.add(String(id));
  });
  return waiting;
}

/** Returns how many deliveries wait in Kafka. Throws `VoidRun` when the delivery account does not balance with them. */
async function balance(
  { receiver, stack }: World,
  account: DeliveryAccount<BenchEndpoint>,
  mayWait: RunOptions['mayWait'],
): Promise<number> {
  const deadline = performance.now() + IN_NO_TOPIC_MS;
  for (;;) {
    const inKafka = mayWait ? await findWaiting(stack.description().kafkaBrokers) : new Set<string>();
    // A delivery that left Kafka during the search has arrived by now, or is found in the next round.
    account.note(receiver.take());
    const missing = mayWait
      ? [...account.pairs({ isPath: mayWait })].filter(({ arrivedAt }) => arrivedAt === undefined)
      : [];
    const waiting = missing.filter(({ event, endpoint }) =>
      inKafka.has(deliveryIdOf(event.tenantId, endpoint.ref, event.id)),
    ).length;
    const reason = voidReason(account.totals(), waiting);
    if (reason === undefined) return waiting;
    if (!mayWait || performance.now() > deadline) throw new VoidRun(reason);
    await delay(1_000);
  }
}

async function measure(world: World, endpoints: Endpoints, generator: Generator, options: RunOptions) {
  const { meanwhile, whenDelivered, mayWait, stalledMs = STALLED_MS } = options;
  const { receiver } = world;
  // Drops late arrivals of an earlier run at the same endpoints.
  receiver.take();
  const pids = (): Pids => ({ ...world.pids(), receiver: receiver.pid, generator: generator.pid });
  const endUsage = beginUsage(pids());
  const sent = generator.go();
  const [load] = await Promise.all([sent, meanwhile?.(sent)]);
  const account = new DeliveryAccount(load.acceptances, endpoints);
  const countMissing = (): number => {
    account.note(receiver.take());
    return account.missing((path) => mayWait?.(path) !== true);
  };
  await untilNone(countMissing, { everyMs: REPORT_EVERY_MS, stalledMs });
  await whenDelivered?.();
  const usage = endUsage(pids());
  const waiting = await balance(world, account, mayWait);
  return {
    ...{ load, account },
    totals: account.totals(),
    /** Deliveries that wait in Kafka. */
    waiting,
    /** From the first event sent to the last delivery. */
    seconds: ((account.arrivals().at(-1) ?? NaN) - load.startedAt) / 1_000_000,
    /** Usage of system, receiver and generator, from the first event sent until all is delivered and `whenDelivered` has resolved. */
    usage,
  };
}

/** The result of a run whose delivery account balances. */
export type RunResult = Awaited<ReturnType<typeof measure>>;

/** Events at a fixed rate. */
export interface Schedule {
  readonly perSecond: number;
  readonly seconds: number;
}

/**
 * Sends events at a fixed rate, or `count` events as fast as the target accepts them, and waits until they are delivered. The default
 * target is the topic, where a load without a rate shows the worker at its limit. Throws `VoidRun` for any fault, also when the delivery
 * account does not balance.
 */
export async function runLoad(
  world: World,
  endpoints: Endpoints,
  load: Schedule | { readonly count: number },
  options: RunOptions = {},
): Promise<RunResult> {
  const size = 'count' in load ? load : { ...load, count: Math.round(load.perSecond * load.seconds) };
  const topic = { kind: 'topic', brokers: world.stack.description().kafkaBrokers } as const;
  const { seed = nextSeed(), target = topic } = options;
  const tenants = [...new Set(endpoints.map(({ tenantId }) => tenantId))];
  const generator = await startGenerator({ ...options, ...size, seed, target, tenants });
  try {
    return await measure(world, endpoints, generator, options);
  } catch (error) {
    if (error instanceof VoidRun) throw error;
    throw new VoidRun(error instanceof Error ? error.message : String(error), { cause: error });
  } finally {
    await generator.stop();
  }
}

/** The target ingest, with the token of a payment system that serves all tenants. */
export async function throughIngest({ stack }: World): Promise<TargetPlan> {
  const description = stack.description();
  const token = await clientFor(description, PAYMENT_SYSTEM).token();
  return { kind: 'ingest', url: `${description.ingest}/integration/v1/events`, token };
}

/**
 * Events of a probe. A warm-up sends twice as many. V8 compiles code during the first 40,000 deliveries, which take a worker at its
 * limit six seconds. Compilation took 9 % of its CPU time when measured.
 */
const PROBE_EVENTS = 20_000;

/**
 * Warms up a worker with twice as many deliveries as a probe has, or as `count` if that is less. Connections are then open and most code is
 * compiled.
 */
export async function warmUpWorker(world: World, endpoints: Endpoints, count: number): Promise<void> {
  await runLoad(world, endpoints, {
    count: Math.ceil((2 * Math.min(PROBE_EVENTS, count)) / endpoints.length),
  });
}

/** Returns the deliveries a second of a warm worker at its limit, with one endpoint for each event. */
export async function findThroughput(world: World, endpoints: Endpoints): Promise<number> {
  await warmUpWorker(world, endpoints, PROBE_EVENTS);
  const { totals, seconds } = await runLoad(world, endpoints, { count: PROBE_EVENTS });
  return totals.delivered / seconds;
}
