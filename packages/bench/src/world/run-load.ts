import { join } from 'node:path';
import { startGenerator } from '../load/generator.js';
import type { Generator } from '../load/generator.js';
import { RunLedger } from '../measure/run-ledger.js';
import { beginSystemUsage } from '../measure/system-usage.js';
import type { Pids } from '../measure/usage-span.js';
import { VoidRun } from '../measure/void-run.js';
import { closeLedger, neededPaths, owedCount, untilCounted } from './follow-run.js';
import type { RunPlan, RunResult } from './run-plan.js';
import type { World } from './world.js';

let runs = 0;

async function measure(world: World, plan: RunPlan, generator: Generator): Promise<RunResult> {
  const receipts = await world.receiver.mark();
  const paths = neededPaths(plan);
  const count = world.receiver.countAt(paths) + owedCount(plan, paths);
  const pids = (): Pids => ({ ...world.pids(), receiver: world.receiver.pid, generator: generator.pid });
  const endUsage = beginSystemUsage(pids());
  const [load] = await Promise.all([generator.go(), plan.meanwhile?.()]);
  await plan.afterwards?.();
  await untilCounted(world, paths, { count, quietMs: plan.quietMs });
  await plan.whenDelivered?.();
  const { usage, othersPercent } = endUsage(pids());
  const acceptances = await generator.acceptances();
  const { ledger, waiting, reason } = await closeLedger(world, plan, async () => {
    const fresh = new RunLedger(acceptances, plan.endpoints);
    for (const receipt of await receipts()) fresh.note(receipt);
    return fresh;
  });
  if (reason !== undefined) throw new VoidRun(reason);
  const seconds = (ledger.lastAt - load.startedAt) / 1_000_000;
  return { load, ledger, totals: ledger.totals(), waiting, usage, othersPercent, seconds };
}

/** Sends events as planned, follows them to the receivers, and holds the ledger. Throws `VoidRun` when it does not balance. */
export async function runLoad(world: World, plan: RunPlan): Promise<RunResult> {
  runs += 1;
  const { events, door, pace, batch = 1 } = plan;
  const file = join(world.dir, `accepted-${runs}.txt`);
  const generator = await startGenerator({ events, door, pace, batch, file });
  try {
    return await measure(world, plan, generator);
  } catch (error) {
    if (error instanceof VoidRun) throw error;
    throw new VoidRun(error instanceof Error ? error.message : String(error), { cause: error });
  } finally {
    await generator.stop();
  }
}
