import { randomName } from '@webhooks/testkit';
import { runPage } from '../../src/redelivery/run-redeliveries.js';
import type { RunRedeliveriesPorts } from '../../src/redelivery/run-redeliveries.js';
import { openTestDatabase } from '../payments/support/open-test-database.js';
import type { TestDatabase } from '../payments/support/open-test-database.js';
import { LEASE_MS, idsOf, log, openRig } from './support/open-rig.js';
import type { Rig } from './support/open-rig.js';

let test: TestDatabase;
beforeAll(async () => {
  test = await openTestDatabase(randomName('redelivery'));
});
afterAll(() => test.close());

/** A page that is sent and not counted. */
async function dieAfterPublishing({ ports, store }: Rig): Promise<void> {
  const dying = {
    ...ports,
    storeFor: () => ({ ...store, advance: () => Promise.reject(new Error('died')) }),
  };
  await expect(runPage(dying)).rejects.toThrow('died');
}

describe('a job whose page is interrupted', () => {
  it('whose instance dies after it published is taken by another, which repeats that page and leaves none out', async () => {
    const deliveries = log(250);
    const rig = openRig(test, deliveries);
    const job = await rig.start();
    await runPage(rig.ports);
    await dieAfterPublishing(rig);
    const other = { ...rig.ports, owner: 'other' };
    expect(await runPage(other)).toBeUndefined();
    rig.advance(LEASE_MS + 1);
    for (let pause = await runPage(other); pause !== undefined; pause = await runPage(other));
    expect(rig.sent).toHaveLength(350);
    expect(new Set(idsOf(rig.sent)).size).toBe(250);
    expect(await rig.find(job)).toMatchObject({ state: 'completed', counts: { sent: 250 } });
  });

  it('leaves none out when Kafka did not take it, whatever came to match since', async () => {
    const deliveries = log(250);
    const seen = deliveries.filter((_, index) => index % 5 !== 0);
    const rig = openRig(test, seen);
    const job = await rig.start();
    const failing = { ...rig.ports, publish: () => Promise.reject(new Error('Kafka is away')) };
    await expect(runPage(failing)).rejects.toThrow('Kafka is away');
    seen.splice(0, seen.length, ...deliveries);
    rig.advance(LEASE_MS + 1);
    await rig.finish();
    expect(idsOf(rig.sent).sort()).toEqual(idsOf(deliveries).sort());
    expect(await rig.find(job)).toMatchObject({ state: 'completed', counts: { sent: 250 } });
  });

  it('counts a page once when the instance that sends it is so slow that another one takes the job', async () => {
    const rig = openRig(test, log(5));
    const job = await rig.start();
    const other = { ...rig.ports, owner: 'other' };
    const publish: RunRedeliveriesPorts['publish'] = async (tasks) => {
      await rig.ports.publish(tasks);
      rig.advance(LEASE_MS + 1);
      await runPage(other);
    };
    await runPage({ ...rig.ports, publish });
    expect(await rig.find(job)).toMatchObject({ state: 'completed', counts: { sent: 5 } });
  });
});
