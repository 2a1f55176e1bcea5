import type { Door } from '../../src/load/door.js';
import { makeEvents } from '../../src/load/make-events.js';
import { sendScheduled } from '../../src/load/send-scheduled.js';
import { monotonicMicros } from '../../src/measure/clock.js';

const events = (count: number) => [...makeEvents({ count, seed: 1, tenants: ['acme', 'globex'] })];

/** A door that is told when to acknowledge. */
function slowDoor(acknowledges = true) {
  const sent: string[] = [];
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const door: Door = {
    acknowledges,
    send: async (batch) => {
      sent.push(...batch.map(({ event }) => event.id));
      if (sent.length === 20) resolve(undefined);
      await promise;
    },
    close: () => Promise.resolve(),
  };
  return { door, sent };
}

describe('sendScheduled', () => {
  it('sends what is due although nothing before it was acknowledged', async () => {
    // The first acknowledgement comes only after the last event was sent: a closed loop would wait for ever.
    const { door, sent } = slowDoor();
    const made = events(20);
    const { acceptances } = await sendScheduled(made, door, { perSecond: 1_000, batch: 3 });
    expect(sent).toEqual(made.map(({ event }) => event.id));
    expect(acceptances.map(({ tenantId }) => tenantId).slice(0, 3)).toEqual(['acme', 'globex', 'acme']);
  });

  it('keeps the due time of an event that it sends late, and tells how late that was', async () => {
    const door: Door = {
      acknowledges: true,
      // Stalls the generator itself for longer than all events take.
      send: () => {
        const until = monotonicMicros() + 30_000;
        while (monotonicMicros() < until) continue;
        return Promise.resolve();
      },
      close: () => Promise.resolve(),
    };
    const { acceptances, startedAt, lateness } = await sendScheduled(events(10), door, {
      perSecond: 1_000,
      batch: 100,
    });
    expect(acceptances.map(({ dueAt }) => Math.round(dueAt - startedAt))).toEqual(
      Array.from({ length: 10 }, (_, index) => index * 1_000),
    );
    expect(lateness?.max).toBeGreaterThanOrEqual(20_000);
    for (const { acknowledgedAt, dueAt } of acceptances) expect(acknowledgedAt).toBeGreaterThan(dueAt);
  });

  it('takes the time of sending where nobody acknowledges', async () => {
    const { door } = slowDoor(false);
    const { acceptances } = await sendScheduled(events(20), door, { perSecond: 200, batch: 1 });
    // The first one was answered 95 ms after it was sent, with the last one.
    const [first, last] = [acceptances[0], acceptances.at(-1)];
    expect((last?.acknowledgedAt ?? 0) - (first?.acknowledgedAt ?? 0)).toBeGreaterThan(50_000);
  });

  it('rejects when one event was not acknowledged', async () => {
    const door: Door = {
      acknowledges: true,
      send: () => Promise.reject(new Error('the broker said no')),
      close: () => Promise.resolve(),
    };
    await expect(sendScheduled(events(3), door, { perSecond: 1_000, batch: 1 })).rejects.toThrow('said no');
  });
});
