import { setTimeout as delay } from 'node:timers/promises';
import type { Client, Redelivery, RedeliveryInput } from '@webhooks/client';
import { clientFor } from '@webhooks/ledger';
import type { Acceptance } from '../load/acceptance-file.js';
import { monotonicMicros } from '../measure/clock.js';
import { jobFault } from '../measure/job-account.js';
import { RunLedger } from '../measure/run-ledger.js';
import type { Totals } from '../measure/run-ledger.js';
import { VoidRun } from '../measure/void-run.js';
import { untilBalanced } from './follow-run.js';
import type { BenchEndpoint, World } from './world.js';

/** One redelivery job: what it names, and what it has to leave alone. */
export interface JobPlan {
  /** Its deliveries are named, by time and ref. */
  readonly endpoint: BenchEndpoint;
  /** An endpoint that got the same events and is not named. */
  readonly other: BenchEndpoint;
  readonly from: Date;
  readonly to: Date;
  /** The events whose deliveries lie in that time. */
  readonly named: readonly Acceptance[];
}

export interface JobResult {
  readonly job: Redelivery;
  readonly totals: Totals;
  /** From the answer to the start until the first byte of the last delivery. */
  readonly seconds: number;
  /** Of the dry run. */
  readonly countedMs: number;
}

const LOOK_MS = 200;
/** Nobody's tenant: nothing is owed there, and whatever arrives is a stranger. */
const NOBODY = '';

/** The job once it has ended; ends after `deadlineMs` with whatever it is then. */
async function untilEnded(client: Client, id: string, deadlineMs: number): Promise<Redelivery> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const job = await client.redelivery(id);
    if (job.state !== 'running' || performance.now() > deadline) return job;
    await delay(LOOK_MS);
  }
}

/** Counts, starts and follows a job to the receivers. Throws `VoidRun` unless exactly what was named came again. */
export async function runJob(world: World, plan: JobPlan, deadlineMs: number): Promise<JobResult> {
  const { endpoint, other, named } = plan;
  const { stack, receiver } = world;
  const client = clientFor(stack.clientOf(endpoint.tenantId), stack.description());
  const [from, to] = [plan.from.toISOString(), plan.to.toISOString()];
  const input: RedeliveryInput = { ref: endpoint.ref, status: 'delivered', from, to };
  const receipts = await receiver.mark();
  const countedAt = monotonicMicros();
  const counted = await client.countRedelivery(input);
  const countedMs = (monotonicMicros() - countedAt) / 1_000;
  const { id } = await client.startRedelivery(input);
  const startedAt = monotonicMicros();
  const job = await untilEnded(client, id, deadlineMs);
  const owed = [endpoint, { ...other, tenantId: NOBODY }];
  const ledger = await untilBalanced(world, { endpoints: owed, quietMs: 10_000 }, async () => {
    const fresh = new RunLedger(named, owed);
    for (const receipt of await receipts()) fresh.note(receipt);
    return fresh;
  });
  const totals = ledger.totals();
  const fault = jobFault({ named: named.length, counted, job, totals });
  if (fault !== undefined) throw new VoidRun(fault);
  return { job, totals, seconds: (ledger.lastAt - startedAt) / 1_000_000, countedMs };
}
