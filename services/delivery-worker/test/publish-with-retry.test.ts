import { RecordRefused } from '@webhooks/kafka';
import type { Sink } from '@webhooks/kafka';
import { eventually } from '@webhooks/testkit';
import { createPublishWithRetry } from '../src/publish/publisher.js';

const RECORD = { topic: 'webhooks.attempts', key: 'k', value: Buffer.from('{}') };

interface Rig {
  readonly publish: () => Promise<void>;
  readonly stopping: AbortController;
  readonly lines: string[];
  sent: number;
  isAway: boolean;
  /** What a send rejects with while the broker is away. */
  fault: Error;
}

/** A sink whose broker is away until it is said to be back. */
function openRig(): Rig {
  const lines: string[] = [];
  const stopping = new AbortController();
  const send: Sink['send'] = () => {
    rig.sent += 1;
    return rig.isAway ? Promise.reject(rig.fault) : Promise.resolve();
  };
  const sink = { send } as unknown as Sink;
  const log = { warn: (line: string) => lines.push(line) } as never;
  const publish = createPublishWithRetry(sink, log, stopping.signal);
  const rig: Rig = {
    publish: () => publish(RECORD),
    stopping,
    lines,
    sent: 0,
    isAway: true,
    fault: new Error('the broker is away'),
  };
  return rig;
}

describe('publishing with retries', () => {
  it('publishes again until it is acknowledged', async () => {
    const rig = openRig();
    const published = rig.publish();
    await eventually(() => expect(rig.sent).toBeGreaterThanOrEqual(2));
    rig.isAway = false;
    await published;
  });

  it('logs one line for a thousand records that wait', async () => {
    const rig = openRig();
    const published = Array.from({ length: 1_000 }, () => rig.publish());
    await eventually(() => expect(rig.sent).toBeGreaterThanOrEqual(1_000));
    rig.isAway = false;
    await Promise.all(published);
    expect(rig.lines).toEqual(['records were not acknowledged; publishing them again']);
  });

  it('gives up as soon as the worker stops', async () => {
    const rig = openRig();
    const published = rig.publish();
    await eventually(() => expect(rig.sent).toBe(1));
    rig.stopping.abort();
    await expect(published).rejects.toThrow('aborted');
  });

  it.each([
    ['Kafka finds it too large', new RecordRefused(10, 'MESSAGE_TOO_LARGE', RECORD.topic)],
    ['Kafka finds its batch too large', new RecordRefused(18, 'RECORD_LIST_TOO_LARGE', RECORD.topic)],
    ['Kafka finds it invalid', new RecordRefused(87, 'INVALID_RECORD', RECORD.topic)],
    ['our own code cannot encode it', new TypeError('a bug of ours')],
  ])('rejects at once with a lasting fault: %s', async (_why, fault) => {
    const rig = openRig();
    rig.fault = fault;
    await expect(rig.publish()).rejects.toBe(fault);
    expect([rig.sent, rig.lines]).toEqual([1, []]);
  });

  it('publishes again what Kafka refuses until an operator mends it', async () => {
    const rig = openRig();
    rig.fault = new RecordRefused(29, 'TOPIC_AUTHORIZATION_FAILED', RECORD.topic);
    const published = rig.publish();
    await eventually(() => expect(rig.sent).toBeGreaterThanOrEqual(2));
    rig.isAway = false;
    await published;
  });
});
