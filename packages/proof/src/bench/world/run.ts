import { setTimeout as delay } from 'node:timers/promises';
import { RETRY_TIERS, TOPICS, deliveryIdOf } from '@webhooks/contracts';
import { PAYMENT_SYSTEM } from '@webhooks/local';
import { DeliveryAccount, STALLED_MS, findClient, readUnhandled, untilNone } from '@webhooks/testkit/account';
import type { HandledPlace } from '@webhooks/testkit/account';
import type { Load, LoadPlan } from '../load/generator.js';
import { REPORT_EVERY_MS, startGenerator } from '../load/processes.js';
import type { Generator } from '../load/processes.js';
import type { TargetPlan } from '../load/send.js';
import { beginUsage, VoidRun, voidReason } from '../measure.js';
import type { Pids } from '../measure.js';
import type { BenchEndpoint, Endpoints, World } from './world.js';

/** What a run may have besides its load. By default its events go to the topic. */
export interface RunOptions extends Partial<Pick<LoadPlan, 'seed' | 'target' | 'warmUp' | 'foreignKeys'>> {
  /** Nothing new for so long means that nothing more will come, default two minutes. */
  readonly stalledMs?: number;
  /** What happens once the load has begun; `sent` resolves when everything was acknowledged. The run waits for it. */
  readonly meanwhile?: (sent: Promise<Load>) => Promise<unknown>;
  /** What happens once everything was delivered; what processes use until this has ended is counted. */
  readonly whenDelivered?: () => Promise<unknown>;
  /** Endpoints that are bad at the end: what they did not get has to be waiting in Kafka. Default: none. */
  readonly mayWait?: (path: string) => boolean;
}

/** An attempt that hangs is in no topic for as long as it may take: 10 s, and some time to publish its retry. */
const IN_NO_TOPIC_MS = 30_000;

let seeds = 0;
/** A seed that no other run of this process has. */
export const nextSeed = (): number => (seeds += 1);

/** Where deliveries wait, and the prefix of the groups that handle them. */
const PLACE: HandledPlace = {
  topics: [TOPICS.deliveries, ...RETRY_TIERS.map(({ topic }) => topic)],
  groupPrefix: 'delivery-worker',
};

/** Ids of the deliveries that wait in Kafka: in a retry tier or in `webhooks.deliveries`, beyond what was handled. */
export async function findWaiting(brokers: readonly string[], place = PLACE): Promise<ReadonlySet<string>> {
  const waiting = new Set<string>();
  await readUnhandled(brokers, place, ({ message: { headers } }) => {
    const id = headers?.['delivery-id'];
    if (id !== undefined) waiting.add(String(id));
  });
  return waiting;
}

/** How many pairs wait in Kafka. Throws `VoidRun` when the delivery account does not balance with them. */
async function balance(
  { receiver, stack }: World,
  account: DeliveryAccount<BenchEndpoint>,
  mayWait: RunOptions['mayWait'],
): Promise<number> {
  const deadline = performance.now() + IN_NO_TOPIC_MS;
  for (;;) {
    const inKafka = mayWait ? await findWaiting(stack.description().kafkaBrokers) : new Set<string>();
    // What left Kafka while it was looked for has arrived by now, or is looked for once more.
    account.note(receiver.take());
    const missing = [...account.pairs(mayWait && { isPath: mayWait })].filter(
      ({ arrivedAt }) => arrivedAt === undefined,
    );
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
  // Late arrivals of an earlier run at the same endpoints are not this run's.
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
    /** Pairs that wait in Kafka. */
    waiting,
    /** From the first event sent to the last delivery. */
    seconds: ((account.arrivals().at(-1) ?? NaN) - load.startedAt) / 1_000_000,
    /** Of system, receiver and generator, from the first event sent until all was delivered (and `whenDelivered`). */
    usage,
  };
}

/** What a run whose delivery account balances has shown. */
export type RunResult = Awaited<ReturnType<typeof measure>>;

/** Events at a fixed rate. */
export interface Schedule {
  readonly perSecond: number;
  readonly seconds: number;
}

/**
 * Sends events at a fixed rate, or so many as fast as they are taken, and follows them to the receiver. They go to the topic where
 * nothing else is said: then a flood shows the worker at its limit. Throws `VoidRun` when the delivery account does not balance.
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

/** Past the service, to an endpoint itself. */
export const toEndpoint = ({ stack }: World, { origin, path }: BenchEndpoint): TargetPlan => ({
  kind: 'endpoint',
  url: `${origin}${path}`,
  caFile: stack.description().tls.caFile,
});

/** Through ingest, as a payment system that serves all tenants. */
export async function throughIngest({ stack }: World): Promise<TargetPlan> {
  const description = stack.description();
  const token = await findClient(description, ({ clientId }) => clientId === PAYMENT_SYSTEM).token();
  return { kind: 'ingest', url: `${description.ingest}/integration/v1/events`, token };
}

/** V8 compiles a worker at its limit for six seconds, 40,000 deliveries; 9 % of its CPU time went there when measured. */
const PROBE_EVENTS = 20_000;

/** Twice as many deliveries as a probe has, or as the run's own `count`: connections are open then, and most code is compiled. */
export async function warmUpWorker(world: World, endpoints: Endpoints, count: number): Promise<void> {
  await runLoad(world, endpoints, {
    count: Math.ceil((2 * Math.min(PROBE_EVENTS, count)) / endpoints.length),
  });
}

/** Events a second that a worker takes with one endpoint for each. It is warm then. */
export async function findThroughput(world: World, endpoints: Endpoints): Promise<number> {
  await warmUpWorker(world, endpoints, PROBE_EVENTS);
  const { totals, seconds } = await runLoad(world, endpoints, { count: PROBE_EVENTS });
  return totals.delivered / seconds;
}
