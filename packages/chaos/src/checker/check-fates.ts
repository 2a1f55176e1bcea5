import type { Evidence } from '../evidence/evidence.js';
import type { CaseFile, Delivery } from './case-file.js';
import { fateOf, isSuccess } from './fate.js';
import type { Fate } from './fate.js';
import type { Finding } from './finding.js';
import { mayNeverHaveBegun } from './never-begun.js';
import { findToggles, promisedFor } from './owed.js';
import type { Promised } from './owed.js';
import { waitsForWrongTime } from './wrong-clock.js';
import { wasWronglyCancelled } from './wrongly-cancelled.js';

/** Deliveries of events that were accepted or stand on the topic, by what became of them. */
export interface Totals {
  /** Events that were acknowledged; and deliveries owed, also for those that stand on the topic without it. */
  readonly acceptedEvents: number;
  readonly accepted: number;
  readonly delivered: number;
  readonly waiting: number;
  readonly dead: number;
  /** Cancelled, or never begun, because the configuration was disabled before the event was read. */
  readonly cancelled: number;
  readonly lost: number;
  /** The longest way from the acknowledgement, or the append of what had none, to the first 2xx of an endpoint that was well all the time, milliseconds. */
  readonly slowestMs: number;
}

type Count = Exclude<keyof Totals, 'acceptedEvents' | 'slowestMs'>;

/** Whether it may have ended like this: it was disabled before it began, or before it was cancelled. */
interface Excuses {
  readonly ofNone: () => boolean;
  readonly ofCancelled: () => boolean;
}

/** Under which heading a delivery counts; undefined when nothing was promised. */
function headingOf(promised: Promised, fate: Fate, excuses: Excuses): Exclude<Count, 'accepted'> | undefined {
  if (promised === 'nothing') return undefined;
  if (fate !== 'none' && fate !== 'cancelled') return fate;
  const mayEnd = fate === 'none' ? excuses.ofNone : excuses.ofCancelled;
  return promised === 'may-end' && mayEnd() ? 'cancelled' : 'lost';
}

/** From the acknowledgement to the first 2xx; 0 when there was none, or before the acknowledgement was read. */
function wayMs({ sent, copies, arrivals }: Delivery): number {
  const first = Math.min(...arrivals.filter(isSuccess).map(({ receivedAt }) => receivedAt));
  return Number.isFinite(first)
    ? Math.max(0, first - (sent.acceptedAt ?? copies[0]?.appendedAt ?? first))
    : 0;
}

/** Every one that is neither stubborn nor of a receiver that went through too much to live. */
const mustRecover = ({ configuration }: Delivery): boolean => configuration.receiver === 'steady';

function findingFor(delivery: Delivery, heading: string, fate: Fate): Finding | undefined {
  const { deliveryId, sent, configuration } = delivery;
  const name = `${sent.event.id} for ${configuration.path}`;
  if (heading === 'lost') {
    const how = fate === 'cancelled' ? 'was cancelled though it was not disabled then' : 'is nowhere';
    return { kind: 'lost', text: `${name} ${how}`, deliveryId };
  }
  if (heading === 'delivered' || heading === 'cancelled' || !mustRecover(delivery)) return undefined;
  if (heading === 'waiting' && waitsForWrongTime(delivery)) return undefined;
  return { kind: 'not-recovered', text: `${name} is ${heading} though its endpoint is well`, deliveryId };
}

/**
 * accepted, or on the topic ⊆ delivered ∪ waiting ∪ dead ∪ cancelled, delivery by delivery; and what goes to a healthy endpoint is
 * delivered in the end, not only kept.
 */
export function checkFates(
  { deliveries }: CaseFile,
  { sent, changes, steps, topics }: Evidence,
): { readonly totals: Totals; readonly findings: readonly Finding[] } {
  const toggles = findToggles(changes);
  const counts: Record<Count, number> = {
    ...{ accepted: 0, delivered: 0, waiting: 0, dead: 0, cancelled: 0, lost: 0 },
  };
  const findings: Finding[] = [];
  let slowestMs = 0;
  for (const delivery of deliveries.values()) {
    const fate = fateOf(delivery, topics);
    const promised = promisedFor(delivery, toggles);
    const heading = headingOf(promised, fate, {
      ofNone: () => mayNeverHaveBegun(delivery, toggles, steps),
      ofCancelled: () => !wasWronglyCancelled(delivery, toggles),
    });
    if (!heading) continue;
    counts.accepted += 1;
    counts[heading] += 1;
    if (promised === 'owed' && mustRecover(delivery)) slowestMs = Math.max(slowestMs, wayMs(delivery));
    const finding = findingFor(delivery, heading, fate);
    if (finding) findings.push(finding);
  }
  const acceptedEvents = [...sent.values()].filter(({ acceptedAt }) => acceptedAt !== undefined).length;
  return { totals: { acceptedEvents, ...counts, slowestMs: Math.round(slowestMs) }, findings };
}
