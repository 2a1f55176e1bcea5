import { setTimeout as delay } from 'node:timers/promises';
import type { EventType } from '@webhooks/contracts';
import {
  Ledger,
  clientFor,
  feedTopic,
  generateSample,
  newReport,
  openReceipts,
  readFeedLine,
} from '@webhooks/ledger';
import type { FeedLine, Hook } from '@webhooks/ledger';
import type { Rig } from './scenario.js';

const LOOK_MS = 50;
const QUIET_MS = 60_000;

/** One endpoint for each event type of the tenant; every event of the sample then makes one delivery. */
export async function registerEndpoints({ stack, receiver }: Rig, path: string): Promise<readonly Hook[]> {
  const client = clientFor(stack.clientOf('acme'), stack.description());
  const types: readonly EventType[] = ['PIX_DYNAMIC_PAID', 'PIX_STATIC', 'PIX_REVERSAL', 'PIX_OUT'];
  const hooks = await Promise.all(
    types.map(async (eventType) => {
      const hookPath = `/${path}/${eventType}`;
      const { ref } = await client.register({ eventType, endpointUrl: `${receiver.origin}${hookPath}` });
      return { tenantId: 'acme', eventType, path: hookPath, refusesFirst: false, ref };
    }),
  );
  // A registration is in force for events that reach Kafka later than 1 s after its answer (contract §1).
  await delay(1_000);
  return hooks;
}

export function makeLines(count: number, seed: number): readonly FeedLine[] {
  return generateSample(count, seed).map((event) =>
    readFeedLine(JSON.stringify({ ...event, tenantId: 'acme' })),
  );
}

/**
 * Feeds lines to the topic and follows the receiver's file until each has arrived. Throws when the ledger does not
 * balance: such a run has no figures. `onProgress` gets the number delivered so far.
 */
export async function deliverAll(
  { stack, receiver }: Rig,
  hooks: readonly Hook[],
  lines: readonly FeedLine[],
  onProgress: (delivered: number) => void = () => undefined,
): Promise<Ledger> {
  const ledger = new Ledger(hooks);
  for (const { event } of lines) if (event) ledger.expect(event);
  const receipts = openReceipts(receiver.file);
  const feeding = feedTopic(stack.description().kafkaBrokers, lines, newReport());
  let changedAt = performance.now();
  for (let totals = ledger.totals(); totals.lost > 0; totals = ledger.totals()) {
    const fresh = receipts.next();
    for (const receipt of fresh) ledger.note(receipt);
    if (fresh.length > 0) changedAt = performance.now();
    if (performance.now() - changedAt > QUIET_MS)
      throw new Error(`void: ${totals.lost} of ${totals.accepted} deliveries are missing`);
    onProgress(ledger.totals().delivered);
    await delay(LOOK_MS);
  }
  await feeding;
  receipts.close();
  return ledger;
}
