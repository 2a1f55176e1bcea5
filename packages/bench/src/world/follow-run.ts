import { setTimeout as delay } from 'node:timers/promises';
import { deliveryIdOf } from '@webhooks/contracts';
import type { RunLedger } from '../measure/run-ledger.js';
import { voidReason } from '../measure/void-run.js';
import { findWaiting } from './find-waiting.js';
import type { RunPlan } from './run-plan.js';
import type { World } from './world.js';

const QUIET_MS = 60_000;
const LOOK_MS = 50;
/** An attempt that hangs is in no topic for as long as it may take: 10 s, and some time to publish its retry. */
const IN_NO_TOPIC_MS = 30_000;
/** A look at a million deliveries takes as long; one more may find what was in no topic at the first. */
const MIN_LOOKS = 3;

/** What a run waits for: its endpoints, those that may be owed something at the end, and how long is too long. */
type WaitedFor = Pick<RunPlan, 'endpoints' | 'mayWait' | 'quietMs'>;

/** Paths that have to be complete when a run ends. */
export const neededPaths = ({ endpoints, mayWait = () => false }: WaitedFor): readonly string[] =>
  endpoints.map(({ path }) => path).filter((path) => !mayWait(path));

/** How many deliveries these paths will have got when each event of the plan was accepted. */
export function owedCount({ events, endpoints }: RunPlan, paths: readonly string[]): number {
  const { tenants, count } = events;
  const wanted = endpoints.filter(({ path }) => paths.includes(path));
  return wanted.reduce((sum, { tenantId }) => {
    const turn = tenants.indexOf(tenantId);
    return turn < 0 ? sum : sum + Math.ceil((count - turn) / tenants.length);
  }, 0);
}

/** Waits until the receiver has told of `count` 2xx at these paths, or told nothing new for `quietMs`. */
export async function untilCounted(
  { receiver }: World,
  paths: readonly string[],
  { count, quietMs = QUIET_MS }: { readonly count: number; readonly quietMs?: number | undefined },
): Promise<'counted' | 'quiet'> {
  let [seen, changedAt] = [receiver.countAt(paths), performance.now()];
  while (seen < count) {
    await delay(LOOK_MS);
    const now = receiver.countAt(paths);
    if (now !== seen) [seen, changedAt] = [now, performance.now()];
    if (performance.now() - changedAt > quietMs) return 'quiet';
  }
  return 'counted';
}

/** Duplicates count as arrivals, so a count alone proves nothing: the ledger is made again until nothing is missing. */
export async function untilBalanced(
  world: World,
  plan: WaitedFor,
  makeLedger: () => Promise<RunLedger>,
): Promise<RunLedger> {
  const paths = neededPaths(plan);
  for (;;) {
    const counted = world.receiver.countAt(paths);
    const ledger = await makeLedger();
    const missing = [...ledger.pairs((path) => paths.includes(path))].some(
      ({ firstByteAt }) => firstByteAt === undefined,
    );
    if (!missing) return ledger;
    const next = { count: counted + 1, quietMs: plan.quietMs };
    if ((await untilCounted(world, paths, next)) === 'quiet') return makeLedger();
  }
}

/** Delivery ids of what these endpoints were owed and did not get. */
function missingIds(ledger: RunLedger, { endpoints, mayWait = () => false }: RunPlan): readonly string[] {
  const refs = new Map(endpoints.map(({ path, ref }) => [path, ref]));
  const ids: string[] = [];
  for (const { event, path, firstByteAt } of ledger.pairs(mayWait))
    if (firstByteAt === undefined) ids.push(deliveryIdOf(event.tenantId, refs.get(path) ?? '', event.id));
  return ids;
}

/** The final ledger, how many pairs wait in Kafka, and why the run is void if it is. */
export async function closeLedger(
  world: World,
  plan: RunPlan,
  makeLedger: () => Promise<RunLedger>,
): Promise<{ readonly ledger: RunLedger; readonly waiting: number; readonly reason: string | undefined }> {
  const deadline = performance.now() + IN_NO_TOPIC_MS;
  for (let look = 1; ; look += 1) {
    const before = await untilBalanced(world, plan, makeLedger);
    const missing = missingIds(before, plan);
    const { kafkaBrokers } = world.stack.description();
    const inKafka = missing.length === 0 ? new Set<string>() : await findWaiting(kafkaBrokers, missing);
    // What left Kafka while it was looked for has been delivered by now, or is looked for once more.
    const ledger = missing.length === 0 ? before : await makeLedger();
    const waiting = missingIds(ledger, plan).filter((id) => inKafka.has(id)).length;
    const reason = voidReason(ledger.totals(), waiting);
    const isOver = look >= MIN_LOOKS && performance.now() > deadline;
    if (reason === undefined || !plan.mayWait || isOver) return { ledger, waiting, reason };
    await delay(1_000);
  }
}
