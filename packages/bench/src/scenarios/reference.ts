import { meanReference, measureReference } from '../reference/measure-reference.js';
import type { ReferencePlan } from '../reference/reference-messages.js';
import type { Scenario, Stage } from './scenario.js';

const TURNS = 2;
const MIB = 1_048_576;

async function measure(stage: Stage): Promise<void> {
  const { receiver, caFile, dir } = await stage.openWorld({ tenants: [], ports: 1 });
  const posts = stage.sizes.count;
  const ways: readonly (readonly [ReferencePlan['by'], string])[] = [
    ['dispatch', 'undici dispatch, one client for each of 64 connections (what everything is held against)'],
    ['request', 'undici request, for comparison'],
  ];
  for (const [by, run] of ways) {
    await stage.run(run, async () => {
      const turns = [];
      for (let turn = 0; turn < TURNS; turn += 1)
        turns.push(await measureReference({ receiver, caFile, dir, posts, by }));
      const mean = meanReference(turns);
      stage.report({
        run,
        ledger: `posted=${posts * TURNS} received=${posts * TURNS} lost=0`,
        figures: [
          { name: 'posts each second', value: mean.postsPerSecond, unit: '1/s' },
          { name: 'CPU for each post', value: mean.cpuMicrosPerPost, unit: 'µs' },
          { name: 'memory, at most', value: mean.peakBytes / MIB, unit: 'MiB' },
        ],
      });
    });
  }
}

export const reference: Scenario = {
  title: 'the same HTTP client posting the same bytes to the same receiver; count: posts, each of two times',
  usual: { count: 20_000, seconds: 0 },
  whole: { count: 200_000, seconds: 0 },
  measure,
};
