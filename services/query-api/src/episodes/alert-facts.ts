import { WARNING_MS } from '../endpoint-health/view-health.js';
import { orderBy } from '../order.js';
import type { AlertKind, EndpointEpisodes, Episode } from './episode.js';

/** A fact about an endpoint of which an alert is made, once. */
export interface AlertFact {
  readonly kind: AlertKind;
  /** When it became true, Unix milliseconds. */
  readonly at: number;
  /** Distinguishes the fact from others of its endpoint and kind; the later fact has the greater key. */
  readonly key: number;
  readonly episode?: Episode;
}

function factsOfEpisode(episode: Episode, failingAfterMs: number): readonly AlertFact[] {
  const { first, endedAt = 0, ended } = episode;
  const known = { key: first.at, episode };
  const failing = { ...known, kind: 'failing', at: first.at + failingAfterMs } as const;
  return ended === 'success' ? [failing, { ...known, kind: 'recovered', at: endedAt }] : [failing];
}

/**
 * Returns the facts that are true now and were not told, the oldest first. An episode counts as failing `failingAfterMs`
 * after its first failure.
 */
export function factsOf(
  state: EndpointEpisodes,
  { now, failingAfterMs }: { readonly now: number; readonly failingAfterMs: number },
): readonly AlertFact[] {
  const { current, past, deadAt = 0, certificateNotAfter = 0, told } = state;
  const episodes = current ? [current, ...past] : past;
  const all: readonly AlertFact[] = [
    ...episodes.flatMap((episode) => factsOfEpisode(episode, failingAfterMs)),
    { kind: 'dead', at: deadAt, key: deadAt },
    { kind: 'expiring', at: certificateNotAfter - WARNING_MS, key: certificateNotAfter },
  ];
  return all
    .filter(({ kind, at, key }) => at <= now && key > (told[kind] ?? 0))
    .sort(orderBy(({ at }) => at));
}

/** Marks facts as told. */
export const markTold = <S extends EndpointEpisodes>(
  state: S,
  facts: readonly Pick<AlertFact, 'kind' | 'key'>[],
): S =>
  facts.reduce((known, { kind, key }) => {
    const told = { ...known.told, [kind]: Math.max(known.told[kind] ?? 0, key) };
    return { ...known, told };
  }, state);
