import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMicros } from '../measure/clock.js';
import { Histogram } from '../measure/histogram.js';
import type { Door } from './door.js';
import type { BenchEvent } from './make-events.js';
import type { Sent } from './sent.js';
import { planSchedule } from './schedule.js';

/** The generator looks this often, unless its door lingers: finer costs CPU that the others need, coarser makes bursts. */
const LOOK_MS = 1;

/**
 * Open loop: what is due is sent at once, whether or not the earlier ones are done; an event that is sent late keeps its due time, so
 * that a stall of anyone, the generator included, is seen in the latencies and not left out of them.
 */
export async function sendScheduled(
  events: readonly BenchEvent[],
  door: Door,
  options: { readonly perSecond: number; readonly batch: number },
): Promise<Sent> {
  const startedAt = monotonicMicros();
  const schedule = planSchedule({ count: events.length, perSecond: options.perSecond }, startedAt);
  const acknowledgedAt = new Float64Array(events.length);
  const lateness = new Histogram();
  const underWay: Promise<void>[] = [];
  const send = async (from: number, to: number): Promise<void> => {
    const sentAt = monotonicMicros();
    await door.send(events.slice(from, to));
    acknowledgedAt.fill(door.acknowledges ? monotonicMicros() : sentAt, from, to);
  };
  const start = (from: number, to: number): void => {
    const sending = send(from, to);
    // Looked at when all are done; until then a fault must not count as one that nobody looks at.
    sending.catch(() => undefined);
    underWay.push(sending);
  };
  for (let sent = 0; sent < events.length;) {
    const now = monotonicMicros();
    const to = Math.min(schedule.dueBy(now), sent + options.batch);
    for (let index = sent; index < to; index += 1) lateness.record(now - schedule.dueAt(index));
    if (to > sent) start(sent, to);
    sent = to;
    if (schedule.dueBy(monotonicMicros()) <= sent) await delay(door.lingerMs ?? LOOK_MS);
  }
  await Promise.all(underWay);
  return {
    startedAt,
    acceptances: events.map(({ event, tenantId }, index) => ({
      id: event.id,
      tenantId,
      dueAt: schedule.dueAt(index),
      acknowledgedAt: acknowledgedAt[index] ?? 0,
    })),
    lateness: lateness.percentiles(),
  };
}
