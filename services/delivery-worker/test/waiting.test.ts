import { randomUUID } from 'node:crypto';
import { taskHeaders, tierFor } from '@webhooks/contracts';
import { eventually, randomName, startEndpoint } from '@webhooks/testkit';
import { buildTask } from './builders.js';
import { WAIT, openRig } from './rig.js';
import type { Rig } from './rig.js';

let rig: Rig;

beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.stop());

describe('a waiting record', () => {
  const waiting = (over: Parameters<typeof buildTask>[0]) =>
    buildTask({
      attempt: 2,
      dueAt: Date.now(),
      firstDueAt: Date.now(),
      deliveryId: randomName('d'),
      ...over,
    });
  const put = (task: ReturnType<typeof buildTask>) =>
    rig.bench.publish(tierFor(1_000).topic, {
      key: task.deliveryId,
      value: task.body,
      headers: taskHeaders(task),
    });

  it.each([
    ['waits', 0, 'deferred fault'],
    ['is dead at its greatest age', 8 * 86_400_000, 'dead configuration-unknown'],
  ])('whose webhook is unknown %s', async (_, ageMs, expected) => {
    const firstDueAt = Date.now() - ageMs;
    const task = waiting({ ref: randomUUID(), tenantId: randomName('tenant'), firstDueAt });
    await put(task);
    await rig.untilTimeline(task.ref, [expected]);
  });

  it('that a crash wrote twice is attempted once', async () => {
    const endpoint = await startEndpoint();
    const { tenantId, ref } = await rig.register(endpoint);
    const task = waiting({ tenantId, ref, eventId: randomName('evt') });
    await put(task);
    await put(task);
    const last = waiting({
      tenantId,
      ref,
      eventId: randomName('evt'),
      deliveryId: task.deliveryId,
      attempt: 3,
    });
    await put(last);
    // A busy worker may put off the first ones, and not the last.
    const both = expect.arrayContaining([task.eventId, last.eventId]) as string[];
    await eventually(() => expect(endpoint.arrivals.map(({ id }) => id)).toEqual(both), WAIT);
    expect(endpoint.arrivals.filter(({ id }) => id === task.eventId)).toHaveLength(1);
    await endpoint.close();
  });

  it('that is damaged is kept among the dead letters with its bytes', async () => {
    const task = waiting({ deliveryId: randomName('damaged'), body: Buffer.from('{"kept":true}') });
    await rig.bench.publish(tierFor(1_000).topic, {
      key: task.deliveryId,
      value: task.body,
      headers: { ...taskHeaders(task), attempt: 'x' },
    });
    const dead = await eventually(
      () => rig.log.find(({ headers }) => headers['delivery-id'] === task.deliveryId) ?? false,
      WAIT,
    );
    expect(dead.headers['dead-reason']).toBe('damaged-header:attempt');
    expect(String(dead.value)).toBe('{"kept":true}');
  });

  it('that would be too large for its tier after another failure is a dead letter before an attempt', async () => {
    const endpoint = await startEndpoint({ reply: 500 });
    const { tenantId, ref } = await rig.register(endpoint);
    const small = waiting({ tenantId, ref, deliveryId: randomName('large') });
    // The topic takes it now (4 MiB, 150 to 190 bytes around key and headers), and not with the headers of a failure (100 more).
    const headerBytes = Object.entries(taskHeaders(small)).flat().join('').length;
    const body = Buffer.alloc(4 * 1_048_576 - headerBytes - 190, 97);
    const task = { ...small, body };
    await put(task);
    const dead = await eventually(
      () => rig.log.find(({ headers }) => headers['delivery-id'] === task.deliveryId) ?? false,
      WAIT,
    );
    expect(dead.headers).toMatchObject({
      'dead-reason': 'too-large',
      'original-value-size': String(body.byteLength),
    });
    expect(endpoint.arrivals).toEqual([]);
    await endpoint.close();
  });

  it('moves on through shorter tiers until it is due, and is never early', async () => {
    const endpoint = await startEndpoint();
    const { tenantId, ref } = await rig.register(endpoint);
    const dueAt = Date.now() + 7_000;
    // On the shortest tier with 7 s to go: it has to move to the tier of 5 s, and to wait out the rest in memory.
    const task = waiting({ tenantId, ref, eventId: randomName('evt'), dueAt });
    await put(task);
    await eventually(() => expect(endpoint.arrivals).toHaveLength(1), WAIT);
    const late = (endpoint.arrivals[0]?.startedAt ?? 0) - dueAt;
    expect(late).toBeGreaterThanOrEqual(-1);
    await endpoint.close();
  });
});
