import { RecordRefused } from '@webhooks/kafka';
import type { KafkaRecord } from '@webhooks/kafka';
import { createQuarantine, createQuarantineBudget } from '../src/publish/quarantine.js';

const RECORD: KafkaRecord = {
  topic: 'payments.events',
  partition: 1,
  offset: 7,
  key: null,
  value: null,
  headers: {},
  timestamp: 0,
  size: 0,
};

/** How often a record is called that fails with this each time: at most a hundred times. */
async function callsOf(error: unknown): Promise<{
  readonly calls: number;
  readonly kept: readonly string[];
  readonly told: number;
}> {
  const kept: string[] = [];
  let told = 0;
  const silent = (): undefined => undefined;
  const onPoison = createQuarantine({
    quarantine: ({ offset }, fault) => Promise.resolve(kept.push(`${offset} ${fault}`)),
    log: { debug: silent, info: silent, warn: silent, error: () => (told += 1) },
    budget: { take: () => true, giveBack: silent },
  });
  for (let times = 1; times <= 100; times += 1) {
    const keeping = onPoison({ record: RECORD, error, times });
    if (keeping === undefined) continue;
    await keeping;
    return { calls: times, kept, told };
  }
  return { calls: Infinity, kept, told };
}

describe('records that cannot be handled', () => {
  it('are quarantined, at most ten in any minute by all sources together; then they block, which is logged once', () => {
    let nowMs = 0;
    const lines: string[] = [];
    const silent = (): undefined => undefined;
    const log = { debug: silent, info: silent, warn: silent, error: (line: string) => lines.push(line) };
    const budget = createQuarantineBudget(log, () => nowMs);
    const sources = [1, 2].map(() => createQuarantine({ quarantine: () => Promise.resolve(), log, budget }));
    const putAside = () =>
      sources.map((onPoison) =>
        onPoison({ record: RECORD, error: new TypeError('a bug of ours'), times: 5 }),
      );
    /** How many are quarantined when two fail each second from now on. */
    const count = (seconds: number): number => {
      let kept = 0;
      for (let second = 0; second < seconds; second += 1, nowMs += 1_000)
        kept += putAside().filter((keeping) => keeping !== undefined).length;
      return kept;
    };
    expect([count(5), budget.fault()]).toEqual([10, undefined]);
    expect([count(55), budget.fault()]).toEqual([0, expect.stringContaining('10 records a minute')]);
    expect([count(5), count(55), typeof budget.fault()]).toEqual([10, 0, 'string']);
    expect(lines.filter((line) => line.startsWith('the quarantine budget'))).toHaveLength(1);
    nowMs += 60_000;
    expect([budget.fault(), count(1)]).toEqual([undefined, 2]);
  });
});

describe('a record that cannot be quarantined either', () => {
  it('is logged with its fault, takes nothing of the budget, and is not logged as quarantined', async () => {
    const lines: string[] = [];
    const silent = (): undefined => undefined;
    const log = { debug: silent, info: silent, warn: silent, error: (line: string) => lines.push(line) };
    const budget = createQuarantineBudget(log, () => 0);
    const refused = new Error('too large');
    const failing = createQuarantine({ quarantine: () => Promise.reject(refused), log, budget });
    const error = new TypeError('a bug of ours');
    for (let times = 5; times < 25; times += 1)
      await expect(failing({ record: RECORD, error, times })).rejects.toBe(refused);
    expect([lines, budget.take()]).toEqual([[], true]);
  });
});

describe('a record that cannot be handled', () => {
  it.each([TypeError, RangeError, ReferenceError])(
    'by a fault of our own code is quarantined after five calls, and reported',
    async (Fault) => {
      const error = new Fault('a bug of ours');
      expect(await callsOf(error)).toEqual({ calls: 5, kept: [`7 ${error.name}`], told: 1 });
    },
  );

  it('because Kafka refuses it is quarantined too', async () => {
    const error = new RecordRefused(10, 'MESSAGE_TOO_LARGE', 'webhooks.retries.5s');
    expect(await callsOf(error)).toEqual({ calls: 5, kept: ['7 RecordRefused'], told: 1 });
  });

  it.each<[string, unknown]>([
    [
      'a topic that we may not write to',
      new RecordRefused(29, 'TOPIC_AUTHORIZATION_FAILED', 'webhooks.attempts'),
    ],
    ['a cache that does not come', new Error('what was waited for did not come in time')],
    ['a stop', new Error('the worker is stopping')],
    ['what is no error', 'TypeError'],
    ['nothing', undefined],
  ])('by %s is called again for ever', async (_what, error) => {
    expect(await callsOf(error)).toEqual({ calls: Infinity, kept: [], told: 0 });
  });
});
