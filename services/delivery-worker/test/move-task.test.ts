import { MAX_TIME_MS, parseDeliveryTask, taskHeaders } from '@webhooks/contracts';
import type { DeliveryTask } from '@webhooks/contracts';
import type { OutgoingRecord } from '@webhooks/kafka';
import { moveTask } from '../src/path/consume-task.js';
import { buildTask } from './builders.js';

const HOUR = 3_600_000;
const MAX_REST_MS = 9 * 24 * HOUR;

/** Where a task goes that is due then, and as what. */
async function moved(dueAt: number): Promise<{ readonly topic: string; readonly task: DeliveryTask }> {
  const task = buildTask({ dueAt });
  const written = { ...taskHeaders(task), 'x-newer': '1' };
  const headers = Object.entries(written).map(([name, text]) => [name, Buffer.from(text)] as const);
  const record = {
    topic: 'webhooks.retries.1s',
    partition: 0,
    offset: 7,
    timestamp: 0,
    key: Buffer.from('k'),
    value: task.body,
    headers: Object.fromEntries(headers),
    size: 0,
  };
  const sent: OutgoingRecord[] = [];
  await moveTask(record, {
    maxWaitMs: MAX_REST_MS,
    publish: (outgoing) => Promise.resolve(void sent.push(outgoing)),
    damaged: (_record, reason) => sent.push({ topic: reason, value: null }),
  });
  const [first = { topic: 'nowhere', headers: {} }] = sent;
  const { 'due-at': _due, ...kept } = record.headers;
  expect(first).toMatchObject({ key: record.key, value: record.value, headers: kept });
  const parsed = parseDeliveryTask(first.headers ?? {}, task.body);
  if (!parsed.ok) throw new Error(`${first.topic}: ${parsed.reason}`);
  return { topic: first.topic, task: parsed.task };
}

describe('a task that still has to wait', () => {
  it('goes to the largest tier that is not longer than its rest, and is due when it was', async () => {
    const dueAt = Date.now() + 3 * HOUR;
    expect(await moved(dueAt)).toMatchObject({ topic: 'webhooks.retries.2h', task: { dueAt } });
  });

  it('that is due in the far future waits no longer than a task of ours can', async () => {
    const before = Date.now();
    const { topic, task } = await moved(MAX_TIME_MS);
    expect(topic).toBe('webhooks.retries.24h');
    expect(task.dueAt - MAX_REST_MS).toBeGreaterThanOrEqual(before);
    expect(task.dueAt - MAX_REST_MS).toBeLessThanOrEqual(Date.now());
  });
});
