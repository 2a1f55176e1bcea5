import type { AttemptEntry, AttemptLogEntry } from '@webhooks/contracts';
import { WARNING_MS } from '../endpoint-health/health-bucket.js';
import { omitUndefined } from '../omit-undefined.js';
import { chainOrders, orderBy } from '../order.js';

/** A failed attempt: when it started, and its status, or its class and code. `causeOf` returns the cause in words. */
type SeenFailure = Pick<AttemptEntry, 'at' | 'status' | 'error' | 'code'>;

/** A time in which an endpoint failed without a success. It began with its first failure. Times are Unix milliseconds. */
export interface Episode {
  readonly first: SeenFailure;
  readonly last: SeenFailure;
  /** Failed attempts, at least: those that were read after later ones are not counted. */
  readonly attempts: number;
  /** Without its query; absent until the first review. */
  readonly endpointUrl?: string;
  readonly endedAt?: number;
  /** `changed`: the webhook was disabled, or has another address. */
  readonly ended?: 'success' | 'changed';
}

/** The kinds of facts that alerts are made of, and their types on the wire. */
export const ALERT_TYPES = {
  failing: 'endpoint.failing',
  recovered: 'endpoint.recovered',
  dead: 'delivery.dead',
  expiring: 'certificate.expiring',
} as const;
export type AlertKind = keyof typeof ALERT_TYPES;

/** Everything that alerts about an endpoint are made of. */
export interface EndpointEpisodes {
  /** The open episode. */
  readonly current?: Episode;
  /** The ended episodes that lasted long enough to count as failing: the newest first, at most `MAX_PAST`. */
  readonly past: readonly Episode[];
  /** Time of the latest success or change. Failures up to it belong to no open episode. */
  readonly settledUntil: number;
  /** When a delivery became dead last. */
  readonly deadAt?: number;
  /** When the webhook's own client certificate ends; absent until that is soon. */
  readonly certificateNotAfter?: number;
  /** For each kind, the time of the latest fact that was reported. It only rises, so a fact is reported once. */
  readonly reported: Readonly<Partial<Record<AlertKind, number>>>;
}

export const NO_EPISODES: EndpointEpisodes = { past: [], settledUntil: 0, reported: {} };

/** Enough for an endpoint that fails each night of its last three weeks; 8 KB. */
const MAX_PAST = 20;

const beginWith = (failure: SeenFailure): Episode => ({ first: failure, last: failure, attempts: 1 });

function addFailure(state: EndpointEpisodes, entry: AttemptEntry, isNew: boolean): EndpointEpisodes {
  const { at, status, error, code } = entry;
  if (at <= state.settledUntil) return state;
  const failure = { at, ...omitUndefined({ status, error, code }) };
  const { current } = state;
  if (!current) return { ...state, current: beginWith(failure) };
  const first = at < current.first.at ? failure : current.first;
  const last = at > current.last.at ? failure : current.last;
  return { ...state, current: { ...current, first, last, attempts: current.attempts + Number(isNew) } };
}

/**
 * Ends the open episode, if it began before `at`. It leaves a trace only if it counts as failing. Failures that were seen
 * later than the end begin a new episode, with the last of them.
 */
export function endEpisode(
  state: EndpointEpisodes,
  { at, ended }: { readonly at: number; readonly ended: 'success' | 'changed' },
  failingAfterMs: number,
): EndpointEpisodes {
  const { current, ...rest } = state;
  const settledUntil = Math.max(state.settledUntil, at);
  if (!current || current.first.at > at) return { ...state, settledUntil };
  const { first, last } = current;
  const isSplit = last.at > at;
  const countsAt = first.at + failingAfterMs;
  const counts = at > countsAt || countsAt <= (state.reported.failing ?? 0);
  const closed = { ...current, last: isSplit ? first : last, endedAt: at, ended };
  const past = counts ? [closed, ...state.past].slice(0, MAX_PAST) : state.past;
  return { ...rest, past, settledUntil, ...(isSplit ? { current: beginWith(last) } : {}) };
}

const byTime = chainOrders<AttemptLogEntry>(
  orderBy(({ at }) => at),
  orderBy((entry) => (entry.kind === 'attempt' ? entry.result : entry.kind)),
);

/**
 * Folds entries of an endpoint; entries that were folded before change nothing. Partitions are read in any order:
 * failures join an episode in any order, and it ends with the first success that began after it.
 */
export function foldEntries(
  known: EndpointEpisodes,
  entries: readonly AttemptLogEntry[],
  failingAfterMs: number,
): EndpointEpisodes {
  const countedUntil = known.current?.last.at ?? 0;
  const add = (state: EndpointEpisodes, entry: AttemptLogEntry): EndpointEpisodes => {
    const { kind, at } = entry;
    if (kind === 'dead') return { ...state, deadAt: Math.max(state.deadAt ?? 0, at) };
    if (kind !== 'attempt') return state;
    if (entry.result === 'failed') return addFailure(state, entry, at > countedUntil);
    return endEpisode(state, { at, ended: 'success' }, failingAfterMs);
  };
  return [...entries].sort(byTime).reduce(add, known);
}

/** A fact about an endpoint of which an alert is made, once. */
export interface AlertFact {
  readonly kind: AlertKind;
  /** When it became true, Unix milliseconds. It distinguishes the fact from others of its endpoint and kind. */
  readonly at: number;
  readonly episode?: Episode;
}

function factsOfEpisode(episode: Episode, failingAfterMs: number): readonly AlertFact[] {
  const { first, endedAt = 0, ended } = episode;
  const failing = { kind: 'failing', at: first.at + failingAfterMs, episode } as const;
  return ended === 'success' ? [failing, { kind: 'recovered', at: endedAt, episode }] : [failing];
}

/**
 * Returns the facts that are true at `now` and were not reported, the oldest first. An episode counts as failing
 * `failingAfterMs` after its first failure.
 */
export function factsOf(state: EndpointEpisodes, now: number, failingAfterMs: number): readonly AlertFact[] {
  const { current, past, deadAt = 0, certificateNotAfter = 0, reported } = state;
  const episodes = current ? [current, ...past] : past;
  const all: readonly AlertFact[] = [
    ...episodes.flatMap((episode) => factsOfEpisode(episode, failingAfterMs)),
    { kind: 'dead', at: deadAt },
    { kind: 'expiring', at: certificateNotAfter - WARNING_MS },
  ];
  return all.filter(({ kind, at }) => at <= now && at > (reported[kind] ?? 0)).sort(orderBy(({ at }) => at));
}

/** Marks facts as reported. */
export function markReported<S extends EndpointEpisodes>(
  state: S,
  facts: readonly Pick<AlertFact, 'kind' | 'at'>[],
): S {
  const reported = { ...state.reported };
  for (const { kind, at } of facts) reported[kind] = Math.max(reported[kind] ?? 0, at);
  return { ...state, reported };
}
