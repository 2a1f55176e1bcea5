import type { EndOffsets, TableReader } from '@webhooks/kafka';
import { eventually } from '@webhooks/testkit';
import { ConfigurationTable } from '../src/configurations/table.js';
import { createConfigurationCache } from '../src/configurations/cache.js';

/** A reader whose freshness and position a test decides. */
function stubReader() {
  const state = { freshAt: performance.now(), position: 0, end: 0, asked: 0 };
  const reader: TableReader = {
    caughtUp: Promise.resolve(),
    freshAt: () => state.freshAt,
    passed: (ends: EndOffsets) => state.position >= (ends.get(0) ?? 0),
    positions: () => new Map([[0, state.position]]),
    fetchEnds: () => {
      state.asked += 1;
      return Promise.resolve(new Map([[0, state.end]]));
    },
    close: () => Promise.resolve(),
  };
  const stopping = new AbortController();
  return {
    state,
    stopping,
    cache: createConfigurationCache(new ConfigurationTable(), reader, stopping.signal),
  };
}

describe('the cache', () => {
  it('is fresh for 700 ms after a fetch that proved the end', () => {
    const { state, cache } = stubReader();
    expect(cache.isFresh()).toBe(true);
    state.freshAt = performance.now() - 699;
    expect(cache.isFresh()).toBe(true);
    state.freshAt = performance.now() - 701;
    expect(cache.isFresh()).toBe(false);
  });

  it('when stale makes work wait, and lets it go on as soon as it is fresh', async () => {
    const { state, cache } = stubReader();
    state.freshAt = Number.NEGATIVE_INFINITY;
    let went = 0;
    const waiting = [cache.whenFresh(), cache.whenFresh()].map((wait) => wait.then(() => (went += 1)));
    await Promise.resolve();
    expect(went).toBe(0);
    state.freshAt = performance.now();
    await Promise.all(waiting);
    expect(went).toBe(2);
  });

  it('catches up to the ends asked for after the call, with one question for all who wait', async () => {
    const { state, cache } = stubReader();
    state.end = 10;
    let caughtUp = 0;
    const waiting = [1, 2, 3].map(() => cache.catchUp().then(() => (caughtUp += 1)));
    await eventually(() => state.asked > 0, { timeoutMs: 1_000 });
    expect([caughtUp, state.asked]).toEqual([0, 1]);
    state.position = 10;
    await Promise.all(waiting);
    expect(caughtUp).toBe(3);
  });

  it('that is closed lets nobody wait for ever', async () => {
    const { state, stopping, cache } = stubReader();
    state.freshAt = Number.NEGATIVE_INFINITY;
    const waiting = cache.whenFresh();
    stopping.abort();
    await expect(waiting).rejects.toThrow('aborted');
    await expect(cache.whenFresh()).rejects.toThrow('aborted');
  });
});
