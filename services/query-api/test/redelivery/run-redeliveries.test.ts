import { randomName } from '@webhooks/testkit';
import type { KnownConfiguration } from '../../src/configurations.js';
import type { Candidate } from '../../src/redelivery/job-pages.js';
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
    expect(new Set(rig.sent.map(({ cycle }) => cycle))).toEqual(new Set([cycleOf(job._id)]));
    expect(String(rig.sent[7]?.body)).toBe('{"id":"evt_7"}');
    expect(await rig.find(job)).toMatchObject({
      state: 'completed',
      counts: { sent: 250, refused: 0, expired: 0 },
    });
  });

  it('continues after a page in which nothing matched', async () => {
    const deliveries = log(3);
    let looks = 0;
    const rig = openRig(test, deliveries, {
      readPage: () => {
        looks += 1;
        const [first] = deliveries;
        return Promise.resolve(
          looks < 3 ? { candidates: [], next: first?.place } : { candidates: deliveries },
        );
      },
    });
    const job = await rig.start();
    await rig.finish();
    expect(rig.sent).toHaveLength(3);
    expect(await rig.find(job)).toMatchObject({ state: 'completed' });
  });

  it.each<[string, Partial<KnownConfiguration>, Partial<Candidate>, object]>([
    ['disabled', { enabled: false }, {}, { refused: 5 }],
    ['of another type', { eventType: 'PIX_OUT' }, {}, { refused: 5 }],
    ['gone', {}, { body: undefined }, { expired: 5 }],
  ])('leaves out what is %s, and counts it', async (_name, configuration, over, counts) => {
    const known = () => ({ ...ENABLED, ...configuration });
    const rig = openRig(test, log(5, over), { configurations: { known, upToDate } });
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

  it('waits its interval after a full page that sent nothing', async () => {
    const known = () => ({ ...ENABLED, eventType: 'PIX_OUT' as const });
    const rig = openRig(test, log(150), { configurations: { known, upToDate } });
    await rig.start();
    expect(await runPage(rig.ports)).toBe(100);
    const page = { candidates: [], next: log(100).at(-1)?.place };
    await rig.finish();
    await rig.start();
    expect(await runPage({ ...rig.ports, readPage: () => Promise.resolve(page) })).toBe(100);
    await rig.finish();
  });

  it('does not repeat a delivery that it has sent', async () => {
    const rig = openRig(test, []);
    const job = await rig.start();
    const sent = log(4, { cycle: cycleOf(job._id) });
    const readPage = () => Promise.resolve({ candidates: [...sent, ...log(6).slice(4)] });
    await runPage({ ...rig.ports, readPage });
    expect(rig.sent).toHaveLength(2);
    expect(await rig.find(job)).toMatchObject({ state: 'completed', counts: { sent: 6 } });
  });

  it('neither sends nor counts a delivery that was sent again after the job began', async () => {
    const rig = openRig(test, []);
    const job = await rig.start();
    const candidates = [...log(2, { cycle: cycleOf(`${job._id}a`) }), ...log(6).slice(2)];
    await runPage({ ...rig.ports, readPage: () => Promise.resolve({ candidates }) });
    expect(idsOf(rig.sent)).toEqual(idsOf(candidates.slice(2)));
    expect(await rig.find(job)).toMatchObject({
      state: 'completed',
      counts: { sent: 4, refused: 0, expired: 0 },
    });
  });

  it('that is cancelled during a page sends and counts no more than that page', async () => {
    const rig = openRig(test, log(150));
    const job = await rig.start();
    const readPage: RunRedeliveriesPorts['readPage'] = async (...page) => {
      await rig.store.cancel('acme', job._id);
      return rig.ports.readPage(...page);
    };
    await runPage({ ...rig.ports, readPage });
    expect(rig.sent).toHaveLength(100);
    expect(await runPage(rig.ports)).toBeUndefined();
    expect(await rig.find(job)).toMatchObject({ state: 'cancelled', counts: { sent: 100 } });
  });

  it('of another tenant is neither shown nor cancelled', async () => {
    const rig = openRig(test, log(1));
    const job = await rig.start();
    expect(await rig.store.find('globex', job._id)).toBeNull();
    expect(await rig.store.cancel('globex', job._id)).toBeNull();
    await rig.finish();
    expect(await rig.find(job)).toMatchObject({ state: 'completed' });
  });
});
