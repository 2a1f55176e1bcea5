import { monotonicMicros } from '../measure/clock.js';
import type { Acceptance } from './acceptance-file.js';
import type { Door } from './door.js';
import type { BenchEvent } from './make-events.js';
import type { Sent } from './sent.js';

function takeBatch(events: Iterator<BenchEvent>, size: number): BenchEvent[] {
  const batch: BenchEvent[] = [];
  for (let next = events.next(); next.done !== true; next = events.next()) {
    batch.push(next.value);
    if (batch.length === size) break;
  }
  return batch;
}

/** Closed loop: `underWay` requests at any time, each with up to `batch` events, until there are no more. */
export async function sendFlood(
  events: Iterator<BenchEvent>,
  door: Door,
  { underWay, batch }: { readonly underWay: number; readonly batch: number },
): Promise<Sent> {
  const startedAt = monotonicMicros();
  const acceptances: Acceptance[] = [];
  const sendInTurn = async (): Promise<void> => {
    for (let next = takeBatch(events, batch); next.length > 0; next = takeBatch(events, batch)) {
      const dueAt = monotonicMicros();
      await door.send(next);
      const acknowledgedAt = monotonicMicros();
      for (const { event, tenantId } of next)
        acceptances.push({ id: event.id, tenantId, dueAt, acknowledgedAt });
    }
  };
  await Promise.all(Array.from({ length: underWay }, sendInTurn));
  return { startedAt, acceptances };
}
