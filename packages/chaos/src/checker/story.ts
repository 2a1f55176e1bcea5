import { isHandled } from '../evidence/evidence.js';
import type { Evidence, Place } from '../evidence/evidence.js';
import type { Delivery } from './case-file.js';

/** Lines of one story, at most: its beginning and its end tell the most. */
const MOST_LINES = 16;

interface Moment {
  readonly at: number;
  readonly what: string;
}

const placeText = ({ topic, partition, offset }: Place): string => `${topic}/${partition} offset ${offset}`;

/** Every moment at which the delivery was seen. */
function momentsOf(delivery: Delivery, evidence: Evidence): readonly Moment[] {
  const { sent, copies, tasks, entries, dead, arrivals } = delivery;
  const at = (place: Place): string =>
    `${placeText(place)}${isHandled(evidence.topics, place) ? ', handled' : ', not handled'}`;
  const accepted =
    sent.acceptedAt === undefined ? [] : [{ at: sent.acceptedAt, what: `accepted by ${sent.door}` }];
  return [
    { at: sent.sentAt, what: `given to ${sent.door}` },
    ...accepted,
    ...copies.map((place) => ({ at: place.appendedAt, what: `event at ${at(place)}` })),
    ...tasks.map(({ place, attempt }) => ({
      at: place.appendedAt,
      what: `attempt ${attempt} waits at ${at(place)}`,
    })),
    ...entries.map(({ entry, place }) => ({
      at: entry.at,
      what: `${entry.kind} ${entry.attempt}, told at ${placeText(place)}`,
    })),
    ...dead.map(({ place, reason }) => ({
      at: place.appendedAt,
      what: `dead (${reason}) at ${placeText(place)}`,
    })),
    ...arrivals.map(({ receivedAt, path, attempt, status }) => ({
      at: receivedAt,
      what: `attempt ${attempt} arrived at ${path}, answered ${status === 0 ? 'badly' : status}`,
    })),
  ].sort((a, b) => a.at - b.at);
}

function shorten(lines: readonly string[]): readonly string[] {
  if (lines.length <= MOST_LINES) return lines;
  const half = MOST_LINES / 2;
  return [...lines.slice(0, half), `… ${lines.length - MOST_LINES} more …`, ...lines.slice(-half)];
}

/** What ran while it was seen last. */
function faultsAt(at: number, { steps }: Evidence): string {
  const running = steps.filter(({ startedAt, endedAt }) => startedAt <= at + 2_000 && endedAt >= at - 2_000);
  return running.map(({ fault, target }) => `${fault} ${target}`).join(', ') || 'no fault';
}

/** The shortest story of one delivery: when and where it was seen, where last, and which faults ran then. */
export function tellStory(delivery: Delivery, evidence: Evidence): readonly string[] {
  const moments = momentsOf(delivery, evidence);
  const last = moments.at(-1);
  const lines = moments.map(({ at, what }) => `${new Date(at).toISOString()} ${what}`);
  const stands = [...delivery.copies, ...delivery.tasks.map(({ place }) => place)].sort(
    (a, b) => a.appendedAt - b.appendedAt,
  );
  const lastPlace = stands.at(-1);
  return [
    ...shorten(lines),
    lastPlace ? `last in Kafka: ${placeText(lastPlace)}` : 'in no topic',
    `last seen ${new Date(last?.at ?? 0).toISOString()}, while there was: ${faultsAt(last?.at ?? 0, evidence)}`,
  ];
}
