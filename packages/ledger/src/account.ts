import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PAYMENT_SYSTEM } from '@webhooks/stack';
import type { Stack, StackDescription } from '@webhooks/stack';
import type { FeedLine } from './feed-line.js';
import { feedIngest, feedTopic } from './feed.js';
import type { FeedReport } from './feed.js';
import { planHooks } from './hooks.js';
import type { Hook } from './hooks.js';
import { Ledger } from './ledger.js';
import { openReceipts } from './receipts.js';
import type { Receipt } from './receipts.js';
import { startReceivers } from './receivers.js';
import type { Receivers } from './receivers.js';
import { clientFor, registerHooks } from './register-hooks.js';
import type { RegisterOptions, ServiceAddresses } from './register-hooks.js';
import { countRejected } from './rejected-count.js';
import type { Print } from './print.js';

export interface AccountOptions {
  readonly stack: Stack;
  readonly lines: readonly FeedLine[];
  readonly dataDir: string;
  readonly fixedPorts: boolean;
  readonly print: Print;
}

/** What feeding and accounting need of a stack, whether it runs as processes or as containers. */
export interface FedStack {
  readonly description: () => ServiceAddresses & Pick<StackDescription, 'kafkaBrokers' | 'clients'>;
}

export interface Balance<R = Receivers> {
  readonly ledger: Ledger;
  readonly receivers: R;
  readonly balanced: boolean;
  /** The two closing lines. */
  readonly closing: readonly [string, string];
}

/** The wait ends when nothing new arrived for this long. The longest pause in a run is a retry after 6 s. */
const QUIET_MS = 90_000;
const LOOK_MS = 200;
const PROGRESS_MS = 2_000;

export const newReport = (): FeedReport => ({ acknowledged: [], refusedByIngest: 0, toBeRejected: 0 });

/** Feeds every second line straight to the topic and posts the others to ingest, both at the same time. */
export async function feed(stack: FedStack, lines: readonly FeedLine[], report: FeedReport): Promise<void> {
  const description = stack.description();
  const paymentSystem = description.clients.find(({ clientId }) => clientId === PAYMENT_SYSTEM);
  if (!paymentSystem) throw new Error('the stack has no client for a payment system');
  await Promise.all([
    feedTopic(
      description.kafkaBrokers,
      lines.filter((_, index) => index % 2 === 0),
      report,
    ),
    feedIngest(
      clientFor(paymentSystem, description),
      lines.filter((_, index) => index % 2 === 1),
      report,
    ),
  ]);
}

/** Shows how far it is, at most every two seconds. */
function createProgress(ledger: Ledger, print: Print): () => void {
  let shownAt = performance.now();
  return () => {
    if (performance.now() - shownAt < PROGRESS_MS) return;
    const { accepted, delivered } = ledger.totals();
    print(`· ${delivered} of ${accepted} delivered`);
    shownAt = performance.now();
  };
}

/** Calls `look` until all is done, or until nothing changed for 90 s. */
async function untilQuiet(
  look: () => Promise<{ readonly changed: boolean; readonly done: boolean }>,
): Promise<void> {
  let changedAt = performance.now();
  for (let seen = await look(); !seen.done; seen = await look()) {
    if (seen.changed) changedAt = performance.now();
    if (performance.now() - changedAt > QUIET_MS) return;
    await delay(LOOK_MS);
  }
}

interface Waiting {
  readonly ledger: Ledger;
  readonly report: FeedReport;
  readonly gained: () => Promise<number>;
  readonly receipts: { readonly next: () => Receipt[] };
  readonly print: Print;
}

/** Reads the receivers' file until the ledger balances or nothing new came for 90 s. Returns what was rejected. */
async function untilBalanced({ ledger, report, gained, receipts, print }: Waiting): Promise<number> {
  const showProgress = createProgress(ledger, print);
  let rejected = 0;
  await untilQuiet(async () => {
    const fresh = receipts.next();
    for (const receipt of fresh) ledger.note(receipt);
    const rejectedBefore = rejected;
    rejected = await gained();
    showProgress();
    const { accepted, delivered } = ledger.totals();
    const changed = fresh.length > 0 || rejected !== rejectedBefore;
    return { changed, done: delivered === accepted && rejected >= report.toBeRejected };
  });
  return rejected;
}

/** Receivers that listen, and endpoints that are registered and in force. */
export interface Stage<R = Receivers> {
  readonly receivers: R;
  readonly hooks: readonly Hook[];
}

/** Registers an endpoint for each tenant and type found in the lines, and waits until they are in force. */
export async function putInForce(
  lines: readonly FeedLine[],
  options: RegisterOptions,
): Promise<readonly Hook[]> {
  const hooks = planHooks(lines.flatMap(({ event }) => event ?? []));
  await registerHooks(hooks, options);
  // A registration is in force for events that reach Kafka later than 1 s after its answer.
  await delay(1_000);
  return hooks;
}

/** Starts the receivers, registers their endpoints and waits until they are in force. */
export async function setStage({ stack, lines, dataDir, fixedPorts, print }: AccountOptions): Promise<Stage> {
  const receivers = await startReceivers(
    join(dataDir, 'receipts.ndjson'),
    stack.authority,
    fixedPorts,
    print,
  );
  const hooks = await putInForce(lines, {
    clientOf: (tenantId) => clientFor(stack.clientOf(tenantId), stack.description()),
    urlOf: (hook) => `${(hook.refusesFirst ? receivers.refusing : receivers.willing).origin}${hook.path}`,
  });
  return { receivers, hooks };
}

/**
 * Feeds with `feedAll`, waits until everything is settled, and compares the ledger with what the receivers append to their
 * file from now on.
 */
export async function account<R extends { readonly file: string }>(
  { receivers, hooks }: Stage<R>,
  { stack, print }: { readonly stack: FedStack; readonly print: Print },
  feedAll: (report: FeedReport) => Promise<void>,
): Promise<Balance<R>> {
  const receipts = openReceipts(receivers.file);
  receipts.next();
  const counter = await countRejected(stack.description().kafkaBrokers);
  const report = newReport();
  await feedAll(report);
  const ledger = new Ledger(hooks);
  for (const { event } of report.acknowledged) if (event) ledger.expect(event);
  const rejected = await untilBalanced({ ledger, report, gained: counter.gained, receipts, print });
  receipts.close();
  await counter.close();
  const { accepted, delivered, duplicates, lost } = ledger.totals();
  return {
    ledger,
    receivers,
    balanced: lost === 0 && accepted > 0 && rejected === report.toBeRejected,
    closing: [
      `rejected=${rejected + report.refusedByIngest} unmatched=${ledger.unmatched}`,
      `accepted=${accepted} delivered=${delivered} duplicates=${duplicates} lost=${lost}`,
    ],
  };
}
