import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMicros, percentilesOf } from '../measure/times.js';
import type { Outgoing, Target } from './target.js';

/** Of what was sent, by index of the event; monotonic microseconds. */
const newTimes = (count: number) => ({
  dueAt: new Float64Array(count),
  acknowledgedAt: new Float64Array(count),
  /** How much later than scheduled events were sent: 99 % of them; 0 for a flood. */
  lateMicros: 0,
});
type Sent = ReturnType<typeof newTimes>;

async function sendFlood(events: readonly Outgoing[], target: Target): Promise<Sent> {
  const times = newTimes(events.length);
  let next = 0;
  const sendInTurn = async (): Promise<void> => {
    while (next < events.length) {
      const from = next;
      const to = Math.min(from + target.batch, events.length);
      next = to;
      times.dueAt.fill(monotonicMicros(), from, to);
      await target.send(events.slice(from, to));
      times.acknowledgedAt.fill(monotonicMicros(), from, to);
    }
  };
  await Promise.all(Array.from({ length: target.underWay }, sendInTurn));
  return times;
}

/**
 * What is due is sent at once. An event that is sent late keeps its due time, so that a stall of anyone, the generator
 * included, shows in the latencies.
 */
async function sendScheduled(events: readonly Outgoing[], target: Target, perSecond: number): Promise<Sent> {
  const times = newTimes(events.length);
  const startedAt = monotonicMicros();
  times.dueAt.forEach((_, index, dueAt) => (dueAt[index] = startedAt + (index * 1_000_000) / perSecond));
  const lateness: number[] = [];
  const underWay: Promise<void>[] = [];
  const send = async (from: number, to: number): Promise<void> => {
    const sentAt = monotonicMicros();
    for (const dueAt of times.dueAt.subarray(from, to)) lateness.push(sentAt - dueAt);
    await target.send(events.slice(from, to));
    times.acknowledgedAt.fill(target.acknowledges ? monotonicMicros() : sentAt, from, to);
  };
  for (let from = 0; from < events.length;) {
    const due = ((monotonicMicros() - startedAt) * perSecond) / 1_000_000 + 1;
    const to = Math.min(events.length, from + target.batch, Math.floor(due));
    if (to > from) {
      const sending = send(from, to);
      // Awaited when all are sent; until then a fault must not count as unhandled.
      sending.catch(() => undefined);
      underWay.push(sending);
      from = to;
    } else await delay(target.lingerMs);
  }
  await Promise.all(underWay);
  return { ...times, lateMicros: percentilesOf(lateness).p99 };
}

/**
 * Sends all events. Open loop with a rate: each event at its scheduled time, whether or not the ones before it are done; closed
 * loop without: as many requests are always under way as the target takes. Resolves when the last event was acknowledged, rejects
 * when one was not.
 */
export const sendAll = (events: readonly Outgoing[], target: Target, perSecond?: number): Promise<Sent> =>
  perSecond === undefined ? sendFlood(events, target) : sendScheduled(events, target, perSecond);
