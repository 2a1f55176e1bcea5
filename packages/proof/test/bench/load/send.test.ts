import { sendAll } from '../../../src/bench/load/send.js';
import type { Target } from '../../../src/bench/load/send.js';
import { monotonicMicros } from '../../../src/bench/measure.js';

const events = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: String(index), key: '', body: Buffer.alloc(0) }));
const targetOf = (more: Partial<Target>): Target => ({
  encode: () => Buffer.alloc(0),
  batch: 3,
  inFlight: 2,
  lingerMs: 1,
  send: () => Promise.resolve(),
  close: () => Promise.resolve(),
  ...more,
});

/** A target that acknowledges everything once it has got the twentieth event. */
function slowTarget() {
  const sent: string[] = [];
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const target = targetOf({
    send: async (batch) => {
      sent.push(...batch.map(({ id }) => id));
      if (sent.length === 20) resolve(undefined);
      await promise;
    },
  });
  return { target, sent };
}

describe('a schedule', () => {
  it('sends what is due although nothing before it was acknowledged', async () => {
    // The first acknowledgement comes only after the last event was sent: a closed loop would wait for ever.
    const { target, sent } = slowTarget();
    await sendAll(events(20), target, 1_000);
    expect(sent).toEqual(events(20).map(({ id }) => id));
  });

  it('keeps the due time of an event that it sends late, and reports how late that was', async () => {
    const target = targetOf({
      batch: 100,
      // Stalls the generator itself for longer than all events take.
      send: () => {
        const until = monotonicMicros() + 30_000;
        while (monotonicMicros() < until) continue;
        return Promise.resolve();
      },
    });
    const sent = await sendAll(events(10), target, 1_000);
    const [first = 0] = sent.dueAt;
    expect([...sent.dueAt].map((dueAt) => Math.round(dueAt - first))).toEqual(
      Array.from({ length: 10 }, (_, index) => index * 1_000),
    );
    expect(sent.lateMicros).toBeGreaterThanOrEqual(20_000);
    for (const [index, at] of sent.acknowledgedAt.entries())
      expect(at).toBeGreaterThan(sent.dueAt[index] ?? 0);
  });

  it('rejects when one event was not acknowledged', async () => {
    const target = targetOf({ send: () => Promise.reject(new Error('the broker said no')) });
    const sending = sendAll(events(3), target, 1_000);
    await expect(sending).rejects.toThrow('said no');
  });
});

describe('a flood', () => {
  it('sends each event once, in batches, with so many requests under way', async () => {
    const batches: string[] = [];
    let [inFlight, most] = [0, 0];
    const target = targetOf({
      send: async (batch) => {
        batches.push(batch.map(({ id }) => id).join());
        most = Math.max(most, (inFlight += 1));
        await new Promise(setImmediate);
        inFlight -= 1;
      },
    });
    const { dueAt, lateMicros } = await sendAll(events(8), target);
    expect(batches).toEqual(['0,1,2', '3,4,5', '6,7']);
    expect([most, dueAt.length, lateMicros]).toEqual([2, 8, 0]);
  });
});
