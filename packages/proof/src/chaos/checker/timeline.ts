import { isHandled } from '../evidence/evidence.js';
import type { Evidence, Place } from '../evidence/evidence.js';
import type { Delivery } from './case-file.js';

/** Lines of one timeline, at most: its beginning and its end tell the most. */
const MOST_LINES = 16;
/** A fault that ran so long before or after what was seen last may have to do with it. */
const NEAR_MS = 2_000;

/** Every moment at which the delivery was seen, oldest first. */
function momentsOf({ sent, copies, tasks, entries, dead, arrivals }: Delivery, { topics }: Evidence) {
  const at = ({ topic, partition, offset }: Place): string => `${topic}/${partition} offset ${offset}`;
  const stands = (place: Place): string =>
    `${at(place)}, ${isHandled(topics, place) ? 'handled' : 'not handled'}`;
  const moments: (readonly [at: number, what: string])[] = [
    [sent.sentAt, `given to ${sent.ingress}`],
    [sent.acceptedAt ?? sent.sentAt, sent.acceptedAt === undefined ? 'not accepted' : 'accepted'],
    ...copies.map((place) => [place.appendedAt, `event at ${stands(place)}`] as const),
    ...tasks.map(
      ({ place, attempt }) => [place.appendedAt, `attempt ${attempt} waits at ${stands(place)}`] as const,
    ),
    ...entries.map(
      ({ entry, place }) => [entry.at, `${entry.kind} ${entry.attempt}, reported at ${at(place)}`] as const,
    ),
    ...dead.map(({ place, reason }) => [place.appendedAt, `dead (${reason}) at ${at(place)}`] as const),
    ...arrivals.map(
      ({ receivedAt, path, attempt, status }) =>
        [receivedAt, `attempt ${attempt} arrived at ${path}, answered ${status || 'badly'}`] as const,
    ),
  ];
  return moments.sort(([a], [b]) => a - b);
}

/** The timeline of one delivery: when and where it was seen, and which faults ran when it was seen last. */
export function timelineOf(delivery: Delivery, evidence: Evidence): readonly string[] {
  const moments = momentsOf(delivery, evidence);
  const lines = moments.map(([at, what]) => `${new Date(at).toISOString()} ${what}`);
  const lastAt = moments.at(-1)?.[0] ?? 0;
  const faults = evidence.steps
    .filter(({ startedAt, endedAt }) => startedAt <= lastAt + NEAR_MS && endedAt >= lastAt - NEAR_MS)
    .map(({ fault, target }) => `${fault} ${target}`);
  const half = MOST_LINES / 2;
  const middle = lines.length > MOST_LINES ? [`… ${lines.length - MOST_LINES} more …`] : [];
  return [
    ...lines.slice(0, half),
    ...middle,
    ...lines.slice(half).slice(-half),
    `last seen while there was: ${faults.join(', ') || 'no fault'}`,
  ];
}
