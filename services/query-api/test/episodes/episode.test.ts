import type { AttemptLogEntry } from '@webhooks/contracts';
import { WARNING_MS } from '../../src/endpoint-health/health-bucket.js';
import { endEpisode, factsOf, foldEntries, markReported } from '../../src/episodes/episode.js';
import type { EndpointEpisodes } from '../../src/episodes/episode.js';
import { compareWith } from '../../src/episodes/review-episodes.js';
import { dead, deferred, delivered, failed } from '../delivery-log/support/entries.js';

/** Seconds after which an endpoint counts as failing. */
const AFTER = 300;
const MS = 1_000;
const NONE: EndpointEpisodes = { past: [], settledUntil: 0, reported: {} };

const bad = (at: number, status = 503) => failed({ at: at * MS, status });
const ok = (at: number) => delivered({ at: at * MS });

const foldOnto = (known: EndpointEpisodes, ...entries: AttemptLogEntry[]) =>
  foldEntries(known, entries, AFTER * MS);
const fold = (...entries: AttemptLogEntry[]) => foldOnto(NONE, ...entries);

/** An episode as `beginning-last failure-end, attempts`, in seconds; the open one first. */
function shown({ current, past }: EndpointEpisodes): readonly string[] {
  return [...(current ? [current] : []), ...past].map(({ first, last, endedAt, ended, attempts }) => {
    const end = endedAt === undefined ? 'open' : `${endedAt / MS} ${ended}`;
    return `${first.at / MS}-${last.at / MS}-${end}, ${attempts}`;
  });
}

it.each<[string, AttemptLogEntry[], string[]]>([
  ['a failure opens one', [bad(10)], ['10-10-open, 1']],
  ['failures join it, in any order', [bad(30), bad(10), bad(20)], ['10-30-open, 3']],
  ['a success ends it, and it lasted long enough', [bad(10), bad(200), ok(400)], ['10-200-400 success, 2']],
  ['one that ends before it counts leaves no trace', [bad(10), ok(AFTER + 10)], []],
  ['a success alone is nothing', [ok(10), ok(400)], []],
  ['a failure before the last success is settled', [ok(20), bad(10)], []],
  [
    'a failure after it opens the next',
    [bad(10), ok(400), bad(410)],
    ['410-410-open, 1', '10-10-400 success, 1'],
  ],
  ['deferrals and dead deliveries are none', [deferred({ at: 10_000 }), dead({ at: 20_000 })], []],
])('episodes: %s', (_name, entries, expected) => {
  expect(shown(fold(...entries))).toEqual(expected);
});

describe('the fold of an episode', () => {
  const history = [bad(10, 500), bad(15), bad(200), bad(350, 404), ok(400), bad(900), bad(905, 410)];

  it('is the same for every grouping in order of time', () => {
    const whole = fold(...history);
    for (let size = 1; size < history.length; size += 1) {
      let state = NONE;
      for (let from = 0; from < history.length; from += size)
        state = foldOnto(state, ...history.slice(from, from + size));
      expect(state).toEqual(whole);
    }
    expect(whole.past[0]).toMatchObject({ first: { status: 500 }, last: { status: 404 } });
  });

  it('is the same for every order of its failures', () => {
    const { current } = foldOnto(fold(bad(350), bad(15)), bad(10, 500), bad(200));
    const inOrder = fold(bad(10, 500), bad(15), bad(200), bad(350)).current;
    expect([current?.first, current?.last]).toEqual([inOrder?.first, inOrder?.last]);
    expect(current?.attempts).toBeLessThanOrEqual(4);
  });

  it('is not changed by entries that are folded again', () => {
    const state = fold(...history);
    for (let from = 0; from < history.length; from += 1)
      expect(foldOnto(state, ...history.slice(from))).toEqual(state);
  });

  it('splits when a success is read after later failures', () => {
    const late = foldOnto(fold(bad(10), bad(500), bad(600)), ok(400));
    expect(shown(late)).toEqual(['600-600-open, 1', '10-10-400 success, 3']);
  });

  it('keeps the newest 20', () => {
    const nights = Array.from({ length: 30 }, (_, night) => [
      bad(night * 1_000 + 1),
      ok(night * 1_000 + 900),
    ]);
    const { past } = fold(...nights.flat());
    expect(past).toHaveLength(20);
    expect(past[0]?.endedAt).toBe(29_900 * MS);
  });
});

describe('a changed webhook', () => {
  const configuration = (second: number, over = {}) => ({
    ...{ enabled: true, endpointUrl: 'https://a.example.com/hook' },
    updatedAt: new Date(second * MS).toISOString(),
    ...over,
  });
  const review = (state: EndpointEpisodes, second: number, over = {}) =>
    compareWith(state, configuration(second, over), AFTER * MS);
  const open = review(fold(bad(10), bad(500)), 0);

  it('is known by the address of the first review', () => {
    expect(open.current?.endpointUrl).toBe('https://a.example.com/hook');
  });

  it('ends the episode when it has another address, and later failures begin another', () => {
    const moved = { endpointUrl: 'https://b.example.com/hook' };
    expect(shown(review(open, 600, moved))).toEqual(['10-500-600 changed, 2']);
    expect(shown(review(open, 400, moved))).toEqual(['500-500-open, 1', '10-10-400 changed, 2']);
  });

  it('ends the episode when it is disabled, with what was under way', () => {
    expect(shown(review(open, 400, { enabled: false }))).toEqual(['10-500-500 changed, 2']);
  });
});

describe('the facts of alerts', () => {
  const factsAt = (state: EndpointEpisodes, second: number) => factsOf(state, second * MS, AFTER * MS);
  const kindsAt = (state: EndpointEpisodes, second: number) => factsAt(state, second).map(({ kind }) => kind);

  it('are that an endpoint fails, five minutes after its first failure, and that it recovered', () => {
    const failing = fold(bad(10));
    expect([kindsAt(failing, AFTER + 9), kindsAt(failing, AFTER + 10)]).toEqual([[], ['failing']]);
    const both = foldOnto(failing, ok(400));
    expect(kindsAt(both, 400)).toEqual(['failing', 'recovered']);
    const marked = markReported(both, factsAt(failing, 400));
    expect(kindsAt(marked, 400)).toEqual(['recovered']);
    expect(kindsAt(markReported(marked, factsAt(both, 400)), 400)).toEqual([]);
  });

  it('are that it recovered, although the success is dated so early that it did not count', () => {
    const failing = fold(bad(10));
    const late = foldOnto(markReported(failing, factsAt(failing, 400)), ok(200));
    expect(kindsAt(late, 400)).toEqual(['recovered']);
  });

  it('are none of recovery when the webhook was changed', () => {
    const changed = endEpisode(fold(bad(10)), { at: 400 * MS, ended: 'changed' }, AFTER * MS);
    expect(kindsAt(changed, 400)).toEqual(['failing']);
  });

  it('are of dead deliveries, and again of later ones', () => {
    const state = fold(dead({ at: 10 * MS }), dead({ at: 10 * MS }));
    expect(kindsAt(state, 20)).toEqual(['dead']);
    const marked = markReported(state, factsAt(state, 20));
    expect([kindsAt(marked, 20), kindsAt(foldOnto(marked, dead({ at: 30 * MS })), 40)]).toEqual([
      [],
      ['dead'],
    ]);
  });

  it('are of a certificate once for each end', () => {
    const state = { ...NONE, certificateNotAfter: WARNING_MS + 5 * MS };
    expect([kindsAt(state, 4), kindsAt(state, 5)]).toEqual([[], ['expiring']]);
    expect(kindsAt(markReported(state, factsAt(state, 5)), 5)).toEqual([]);
  });
});
