import { mkdirSync } from 'node:fs';
import type { Client } from '@webhooks/client';
import { eventually } from '@webhooks/testkit';
import { STALLED_MS, align } from '@webhooks/testkit/account';
import { gatherEvidence } from '../chaos/evidence/gather-evidence.js';
import { settle, waitOrStop } from '../chaos/plan.js';
import { formatVerdict, seconds } from '../chaos/report.js';
import { findUntested, runIn, workUnderLoad } from '../chaos/run-chaos.js';
import { TENANTS, planConfigurations } from '../chaos/world/configurations.js';
import { judgeUpgrade } from './judge.js';
import type { UpgradeEvidence } from './judge.js';
import type { Switch } from './plan.js';
import { openUpgradeWorld } from './world.js';
import type { UpgradeWorld, WorldOptions } from './world.js';

export interface UpgradeOptions extends WorldOptions {
  readonly seed: number;
  readonly plan: readonly Switch[];
  readonly eventsPerSecond: number;
  /** Ends the run early, in order. */
  readonly stopping: AbortSignal;
}

/** Milliseconds between the calls of one caller: a page holds up to 100 notifications, and a tenant gets 250 a second. */
const EVERY_MS = 300;
/** Load before the first switch and after the last one, and the age of a delivery that is sent again: then it is in the log. */
const SETTLED_MS = 5_000;

/** Opens the calls of customers. None is retried: a failed one is noted, and made again later. */
function openCalls() {
  const seen = {
    failures: [] as string[],
    pulled: new Set<string>(),
    redelivered: new Map<string, number>(),
  };
  const cursors = new Map<string, string>();
  /** Pulls the next page of a tenant's notifications. Returns whether it was the last one. */
  const pull = async (client: Client, tenantId: string): Promise<boolean> => {
    const after = cursors.get(tenantId);
    const page = await client.notifications({ wait: 1, ...(after === undefined ? {} : { after }) });
    for (const { id } of page.data) seen.pulled.add(id);
    cursors.set(tenantId, page.nextCursor);
    return !page.hasMore;
  };
  /** Sends a delivery of a steady webhook again. */
  const redeliver = async (client: Client, ref: string): Promise<void> => {
    const [from = '', to = ''] = [2, 1].map((ago) => new Date(Date.now() - ago * SETTLED_MS).toISOString());
    const { data } = await client.deliveries({ ref, status: 'delivered', from, to, limit: 1 });
    for (const { deliveryId } of data) {
      await client.redeliver(deliveryId);
      seen.redelivered.set(deliveryId, (seen.redelivered.get(deliveryId) ?? 0) + 1);
    }
  };
  /** Pulls and sends again, until it is stopped. */
  const callOn = async ({ callerOf }: UpgradeWorld, stopping: AbortSignal): Promise<void> => {
    const repeat = async (tenant: string, call: (client: Client, tenant: string) => Promise<unknown>) => {
      const client = callerOf(tenant);
      while (!stopping.aborted) {
        await call(client, tenant).catch((error: unknown) => seen.failures.push(String(error)));
        await waitOrStop(EVERY_MS, stopping);
      }
    };
    const [{ tenantId, ref } = { tenantId: '', ref: '' }] = planConfigurations();
    const again = repeat(tenantId, (client) => redeliver(client, ref));
    await Promise.all([again, ...TENANTS.map((tenant) => repeat(tenant, pull))]);
  };
  return { seen, pull, callOn };
}

/** Makes the switches in order. One that fails is the last. */
async function makeSwitches(world: UpgradeWorld, { plan, print }: UpgradeOptions, stopping: AbortSignal) {
  const done: UpgradeEvidence['steps'][number][] = [];
  await waitOrStop(SETTLED_MS, stopping);
  for (const wanted of plan) {
    await waitOrStop(wanted.afterMs, stopping);
    if (stopping.aborted || done.at(-1)?.outcome === 'failed') break;
    const about = { track: 'system', fault: `to ${wanted.to}:`, target: wanted.instance } as const;
    const step = { ...about, atMs: 0, lastsMs: 0 };
    done.push({ ...wanted, ...(await settle(step, Date.now(), world.replace(wanted), print)) });
  }
  await waitOrStop(SETTLED_MS, stopping);
  return done;
}

async function run(world: UpgradeWorld, options: UpgradeOptions) {
  const { callerOf: clientOf, receivers, paymentSystem, stack, balancer, ended } = world;
  const calls = openCalls();
  const { seen } = calls;
  const load = { ...options, world: { clientOf, receivers, paymentSystem, stack }, until: Infinity };
  const { done: steps, ...done } = await workUnderLoad(load, async (stopping, over) => {
    const calling = calls.callOn(world, over.signal);
    const made = await makeSwitches(world, options, stopping).finally(() => over.abort());
    await calling;
    return made;
  });
  const logged = balancer.calls();
  const evidence = await gatherEvidence(world, { ...done, steps, redelivered: seen.redelivered });
  for (const tenant of TENANTS)
    await eventually(() => calls.pull(world.clientOf(tenant), tenant), { timeoutMs: STALLED_MS });
  const all = { ...evidence, ...seen, steps, calls: logged, ended, planned: options.plan.length };
  const untested = [...findUntested(all), ...(seen.redelivered.size > 0 ? [] : ['a redelivery'])];
  return { ...judgeUpgrade(all), calls: logged.length, redeliveries: seen.redelivered.size, untested };
}
export type UpgradeResult = Awaited<ReturnType<typeof run>>;

/** One run from an empty world to its verdict. Everything that was started is stopped. */
export async function runUpgrade(options: UpgradeOptions): Promise<UpgradeResult> {
  mkdirSync(options.dataDir, { recursive: true });
  const world = await openUpgradeWorld(options);
  return runIn(world, () => run(world, options));
}

/** Formats the closing lines: what each switch cost, the verdict and the calls. */
export function formatReport({ switches, verdict, calls, redeliveries }: UpgradeResult): readonly string[] {
  const rows = switches.map(({ ms, gapMs, repeats, ...names }) => [
    ...Object.values(names),
    seconds(ms),
    seconds(gapMs),
    String(repeats),
  ]);
  const failed = verdict.findings.filter(({ kind }) => kind === 'failed-call').length;
  return [
    ...align([['service', 'instance', 'to', 'took', 'gap', 'repeats'], ...rows], [3, 4, 5]),
    ...formatVerdict(verdict),
    `calls=${calls} failed=${failed} redeliveries=${redeliveries}`,
  ];
}
