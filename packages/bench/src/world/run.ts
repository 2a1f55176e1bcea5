import { setTimeout as delay } from 'node:timers/promises';
import { deliveryIdOf } from '@webhooks/contracts';
import { clientFor } from '@webhooks/ledger';
import { PAYMENT_SYSTEM } from '@webhooks/stack';
import { startGenerator } from '../load/generator.js';
import type { Generator, Load } from '../load/generator.js';
import type { Pace } from '../load/send.js';
import { CONNECTIONS } from '../load/target.js';
import type { TargetPlan } from '../load/target.js';
import { RunLedger, VoidRun, voidReason } from '../measure/run-ledger.js';
import type { Totals } from '../measure/run-ledger.js';
import { beginUsage } from '../measure/usage.js';
import type { Pids, Usage } from '../measure/usage.js';
import { findWaiting } from './find-waiting.js';
import type { BenchEndpoint, Endpoints, World } from './world.js';

/** One load on one world. */
interface RunPlan {
  /** Endpoints that are owed the events. */
  readonly endpoints: Endpoints;
  readonly count: number;
  readonly seed: number;
  readonly target: TargetPlan;
  readonly pace: Pace;
  /** See `LoadPlan`. */
  readonly warmUp: number;
  /** Nothing new for so long means that nothing more will come, default 60,000. */
  readonly quietMs?: number;
  /** What happens once the load has begun; `sent` resolves when everything was acknowledged. The run waits for it. */
  readonly meanwhile?: (sent: Promise<Load>) => Promise<void>;
  /** What happens once everything was delivered; what processes use until this has ended is counted. */
  readonly whenDelivered?: () => Promise<unknown>;
  /** Endpoints that are bad at the end: what they did not get has to be waiting in Kafka. Default: none. */
  readonly mayWait?: (path: string) => boolean;
}

/** What a run may have besides its load. */
export type RunOptions = Partial<Omit<RunPlan, 'endpoints' | 'count'>>;

/** What a run whose ledger balances has shown. */
export interface RunResult {
  readonly load: Load;
  readonly ledger: RunLedger;
  readonly totals: Totals;
  /** Pairs that wait in Kafka. */
  readonly waiting: number;
  /** From the first event sent to the last delivery. */
  readonly seconds: number;
  /** Of system, receiver and generator, from the first event sent until all was delivered (and `whenDelivered`). */
  readonly usage: Usage;
}

const QUIET_MS = 60_000;
const LOOK_MS = 50;
/** An attempt that hangs is in no topic for as long as it may take: 10 s, and some time to publish its retry. */
const IN_NO_TOPIC_MS = 30_000;

let seeds = 0;
/** A seed that no other run of this process has. */
export const nextSeed = (): number => (seeds += 1);

/** Waits until the endpoints that may not wait got everything, or nothing new for `quietMs`. */
async function untilDelivered({ receiver }: World, plan: RunPlan, ledger: RunLedger): Promise<void> {
  const { mayWait = () => false, quietMs = QUIET_MS } = plan;
  let [missing, changedAt] = [Infinity, performance.now()];
  for (;;) {
    ledger.note(receiver.take());
    const now = ledger.missing((path) => !mayWait(path));
    if (now === 0 || performance.now() - changedAt > quietMs) return;
    if (now !== missing) [missing, changedAt] = [now, performance.now()];
    await delay(LOOK_MS);
  }
}

/** Delivery ids of what endpoints that may wait did not get. */
function missingIds(ledger: RunLedger, { endpoints, mayWait = () => false }: RunPlan): readonly string[] {
  const refs = new Map(endpoints.map(({ path, ref }) => [path, ref]));
  return [...ledger.pairs({ isPath: mayWait })].flatMap(({ event, path, arrivedAt }) =>
    arrivedAt === undefined ? [deliveryIdOf(event.tenantId, refs.get(path) ?? '', event.id)] : [],
  );
}

/** How many pairs wait in Kafka. Throws `VoidRun` when the ledger does not balance with them. */
async function balance({ receiver, stack }: World, plan: RunPlan, ledger: RunLedger): Promise<number> {
  const deadline = performance.now() + IN_NO_TOPIC_MS;
  for (;;) {
    const inKafka = plan.mayWait ? await findWaiting(stack.description().kafkaBrokers) : new Set<string>();
    // What left Kafka while it was looked for has arrived by now, or is looked for once more.
    ledger.note(receiver.take());
    const waiting = missingIds(ledger, plan).filter((id) => inKafka.has(id)).length;
    const reason = voidReason(ledger.totals(), waiting);
    if (reason === undefined) return waiting;
    if (!plan.mayWait || performance.now() > deadline) throw new VoidRun(reason);
    await delay(1_000);
  }
}

async function measure(world: World, plan: RunPlan, generator: Generator): Promise<RunResult> {
  // Late arrivals of an earlier run at the same endpoints are not this run's.
  world.receiver.take();
  const pids = (): Pids => ({ ...world.pids(), receiver: world.receiver.pid, generator: generator.pid });
  const endUsage = beginUsage(pids());
  const sent = generator.go();
  const [load] = await Promise.all([sent, plan.meanwhile?.(sent)]);
  const ledger = new RunLedger(load.acceptances, plan.endpoints);
  await untilDelivered(world, plan, ledger);
  await plan.whenDelivered?.();
  const usage = endUsage(pids());
  const waiting = await balance(world, plan, ledger);
  const seconds = ((ledger.arrivals().at(-1) ?? NaN) - load.startedAt) / 1_000_000;
  return { load, ledger, totals: ledger.totals(), waiting, usage, seconds };
}

/** Sends events and follows them to the receiver. Throws `VoidRun` when the ledger does not balance. */
async function runLoad(world: World, options: RunOptions & Pick<RunPlan, 'endpoints' | 'count' | 'pace'>) {
  const target = { kind: 'topic', brokers: world.stack.description().kafkaBrokers } as const;
  const plan: RunPlan = { seed: nextSeed(), target, warmUp: 0, ...options };
  const tenants = [...new Set(plan.endpoints.map(({ tenantId }) => tenantId))];
  const generator = await startGenerator({
    events: { count: plan.count, seed: plan.seed, tenants },
    target: plan.target,
    pace: plan.pace,
    warmUp: plan.warmUp,
  });
  try {
    return await measure(world, plan, generator);
  } catch (error) {
    if (error instanceof VoidRun) throw error;
    throw new VoidRun(error instanceof Error ? error.message : String(error), { cause: error });
  } finally {
    await generator.stop();
  }
}

/** Requests of 500 records under way: enough to be ahead of any worker. */
const UNDER_WAY = 2;

/** Sends events as fast as they are taken, to the topic where nothing else is said: the worker then works at its limit. */
export const flood = (
  world: World,
  endpoints: Endpoints,
  count: number,
  options: RunOptions = {},
): Promise<RunResult> =>
  runLoad(world, { pace: { kind: 'flood', underWay: UNDER_WAY }, ...options, endpoints, count });

/** Sends events at a fixed rate, to the topic where nothing else is said. */
export const openLoop = (
  world: World,
  endpoints: Endpoints,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
  options: RunOptions = {},
): Promise<RunResult> => {
  const count = Math.round(perSecond * seconds);
  return runLoad(world, { ...options, pace: { kind: 'scheduled', perSecond }, endpoints, count });
};

/** Past the service, to an endpoint itself. */
export const toEndpoint = ({ stack }: World, { origin, path }: BenchEndpoint): TargetPlan => ({
  kind: 'endpoint',
  url: `${origin}${path}`,
  caFile: stack.description().tls.caFile,
});

/** Through ingest, as a payment system that serves all tenants. */
export async function throughIngest({ stack }: World): Promise<Pick<RunPlan, 'target' | 'pace'>> {
  const description = stack.description();
  const paymentSystem = description.clients.find(({ clientId }) => clientId === PAYMENT_SYSTEM);
  if (!paymentSystem) throw new Error('the stack has no client for a payment system');
  const token = await clientFor(paymentSystem, description).token();
  const url = `${description.ingest}/integration/v1/events`;
  return { target: { kind: 'ingest', url, token }, pace: { kind: 'flood', underWay: CONNECTIONS } };
}

/** V8 compiles a worker at its limit for six seconds, and 9 % of its CPU time went there when measured. */
const COMPILED_AFTER = 40_000;

/** So many deliveries, or twice the run's own `count`: connections are open then, and most code is compiled. */
export async function warmUpWorker(world: World, endpoints: Endpoints, count: number): Promise<void> {
  await flood(world, endpoints, Math.ceil(Math.min(COMPILED_AFTER, 2 * count) / endpoints.length));
}

const PROBE_EVENTS = 20_000;

/** Events a second that a worker takes with one endpoint for each. It is warm then. */
export async function findThroughput(world: World, endpoints: Endpoints): Promise<number> {
  await warmUpWorker(world, endpoints, PROBE_EVENTS);
  const { totals, seconds } = await flood(world, endpoints, PROBE_EVENTS);
  return totals.delivered / seconds;
}
