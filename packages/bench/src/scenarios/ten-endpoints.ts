import { poolAll } from '../measure/histogram.js';
import type { Percentiles } from '../measure/histogram.js';
import type { DueBetween, RunLedger, Since } from '../measure/run-ledger.js';
import type { RunResult } from '../world/run-plan.js';
import { registerEndpoints } from '../world/world.js';
import type { BenchEndpoint, World } from '../world/world.js';

/** Ten endpoints with a tenant, a port and a tenth of the events each. */
export const TEN = 10;

export const tenTenants = (run: string): readonly string[] =>
  Array.from({ length: TEN }, (_, index) => `${run}-${index}`);

export const registerTen = (world: World, run: string): Promise<readonly BenchEndpoint[]> =>
  registerEndpoints(
    world,
    tenTenants(run).map((tenantId) => ({ tenantId, path: `/${tenantId}` })),
  );

export type IsPath = (path: string) => boolean;

/** Latencies pooled over some endpoints. */
export const pooled = (
  { ledger }: Pick<RunResult, 'ledger'>,
  since: Since,
  isWanted: IsPath,
  between?: DueBetween,
): Percentiles => poolAll(ledger.latencies(since, isWanted, between).values()).percentiles();

interface Flow {
  /** Deliveries of these endpoints each second, from the first event sent to the last delivery at them. */
  readonly perSecond: number;
  /** What was due and not delivered when the last event was due. */
  readonly backlog: number;
}

/** How deliveries kept up with events at some endpoints. */
export function flowOf(ledger: RunLedger, isWanted: IsPath): Flow {
  let [delivered, lastAt, startAt, lastDueAt] = [0, 0, Infinity, 0];
  for (const { event, firstByteAt = 0 } of ledger.pairs(isWanted)) {
    delivered += 1;
    lastAt = Math.max(lastAt, firstByteAt);
    startAt = Math.min(startAt, event.dueAt);
    lastDueAt = Math.max(lastDueAt, event.dueAt);
  }
  let backlog = 0;
  for (const { firstByteAt = Infinity } of ledger.pairs(isWanted)) if (firstByteAt > lastDueAt) backlog += 1;
  return { perSecond: (delivered * 1_000_000) / (lastAt - startAt), backlog };
}
