import { randomName } from '@webhooks/testkit';
import type { KnownConfiguration } from '../../src/configurations/open-configurations.js';
import { cycleOf } from '../../src/redelivery/redelivery-task.js';
import { runPage } from '../../src/redelivery/run-redeliveries.js';
import type { RunRedeliveriesPorts } from '../../src/redelivery/run-redeliveries.js';
import { openTestDatabase } from '../payments/support/open-test-database.js';
import type { TestDatabase } from '../payments/support/open-test-database.js';
import { ENABLED, LEASE_MS, idsOf, log, openRig, upToDate } from './support/open-rig.js';

let test: TestDatabase;
beforeAll(async () => {
  test = await openTestDatabase(randomName('redelivery'));
});
afterAll(() => test.close());

describe('a job', () => {
  it('sends each delivery once, in pages, with its own cycle, and is completed', async () => {
    const deliveries = log(250);
    const rig = openRig(test, deliveries);
    const job = await rig.start();
    await rig.finish();
    expect(idsOf(rig.sent)).toEqual(deliveries.map(({ deliveryId }) => deliveryId));
    expect(new Set(rig.sent.map(({ cycle }) => cycle))).toEqual(new Set([cycleOf(job.id)]));
    expect(String(rig.sent[7]?.body)).toBe('{"id":"evt_7"}');
    expect(await rig.find(job)).toMatchObject({
      state: 'completed',
      counts: { sent: 250, refused: 0, expired: 0 },
    });
  });

  it('goes on behind a page in which nothing matched', async () => {
    const deliveries = log(3);
    let looks = 0;
    const rig = openRig(test, deliveries, {
      pageDeliveries: () => {
        looks += 1;
        const [first] = deliveries;
        return Promise.resolve(looks < 3 ? { rows: [], next: first?.place } : { rows: deliveries });
      },
    });
    const job = await rig.start();
    await rig.finish();
    expect(rig.sent).toHaveLength(3);
    expect(await rig.find(job)).toMatchObject({ state: 'completed' });
  });

  it.each<[string, Partial<RunRedeliveriesPorts>, object]>([
    [
      'disabled',
      { configurations: { known: () => ({ ...ENABLED, enabled: false }), upToDate } },
      { refused: 5 },
    ],
    [
      'of another type',
      {
        configurations: {
          known: () => ({ ...ENABLED, eventType: 'PIX_OUT' }),
          upToDate,
        },
      },
      { refused: 5 },
    ],
    ['gone', { findBodies: () => Promise.resolve(new Map()) }, { expired: 5 }],
  ])('leaves out what is %s, and counts it', async (_name, over, counts) => {
    const rig = openRig(test, log(5), over);
    const job = await rig.start();
    await rig.finish();
    expect(rig.sent).toEqual([]);
    expect(await rig.find(job)).toMatchObject({ state: 'completed', counts: { sent: 0, ...counts } });
  });

  it('refuses nothing before the configurations are known to their end', async () => {
    const known: KnownConfiguration[] = [];
    const rig = openRig(test, log(5), {
      configurations: {
        known: () => known[0],
        upToDate: () => (known.length > 0 ? Promise.resolve() : Promise.reject(new Error('not read yet'))),
      },
    });
    const job = await rig.start();
    await expect(runPage(rig.ports)).rejects.toThrow('not read yet');
    expect(await rig.find(job)).toMatchObject({ state: 'running', counts: { refused: 0 } });
    known.push(ENABLED);
    rig.advance(LEASE_MS + 1);
    await rig.finish();
    expect(await rig.find(job)).toMatchObject({ state: 'completed', counts: { sent: 5 } });
  });

  it.each([
    ['the rest of its interval after a page', 40, 60],
    ['not at all after a page that took longer', 250, 0],
    ['its interval, when the clock was set back', -3_600_000, 100],
  ])('waits %s', async (_name, takenMs, pauseMs) => {
    const rig = openRig(test, log(150));
    const publish = (): Promise<void> => {
      rig.advance(takenMs);
      return Promise.resolve();
    };
    await rig.start();
    expect(await runPage({ ...rig.ports, publish })).toBe(pauseMs);
    await rig.finish();
  });

  it('does not send again what it is known to have sent', async () => {
    const rig = openRig(test, []);
    const job = await rig.start();
    const sent = log(4, { cycle: cycleOf(job.id) });
    const pageDeliveries = () => Promise.resolve({ rows: [...sent, ...log(6).slice(4)] });
    await runPage({ ...rig.ports, pageDeliveries });
    expect(rig.sent).toHaveLength(2);
    expect(await rig.find(job)).toMatchObject({ state: 'completed', counts: { sent: 6 } });
  });

  it('that is cancelled during a page sends nothing of it', async () => {
    const rig = openRig(test, log(5));
    const job = await rig.start();
    const pageDeliveries: RunRedeliveriesPorts['pageDeliveries'] = async (...page) => {
      await rig.store.cancel('acme', job.id);
      return rig.ports.pageDeliveries(...page);
    };
    await runPage({ ...rig.ports, pageDeliveries });
    expect(rig.sent).toEqual([]);
    expect(await rig.find(job)).toMatchObject({ state: 'cancelled', counts: { sent: 0 } });
    expect(await runPage(rig.ports)).toBeUndefined();
  });

  it('of another tenant is neither shown nor cancelled', async () => {
    const rig = openRig(test, log(1));
    const job = await rig.start();
    expect(await rig.store.find('globex', job.id)).toBeUndefined();
    expect(await rig.store.cancel('globex', job.id)).toBeUndefined();
    await rig.finish();
    expect(await rig.find(job)).toMatchObject({ state: 'completed' });
  });
});
