import { MAX_EVENT_BYTES, TOPICS } from '@webhooks/contracts';
import { testKafkaBrokers } from '@webhooks/local';
import { buildEvent, eventually } from '@webhooks/testkit';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { openBench } from './start-worker.js';

/** Runs a program of the image. */
const run = (program: string, ...args: readonly string[]) =>
  new Promise<{ code: unknown; out: string }>((resolve) => {
    const file = join(import.meta.dirname, '..', 'dist', 'src', `${program}.js`);
    const env = { KAFKA_BROKERS: testKafkaBrokers().join(',') };
    execFile(process.execPath, [file, ...args], { env, timeout: 60_000 }, (error, out, err) =>
      resolve({ code: error?.code ?? 0, out: out + err }),
    );
  });

it('rejected lists what was rejected and returns what is whole, once; lag says how far it is', async () => {
  const bench = await openBench();
  await bench.createTopic(TOPICS.rejected, { 'max.message.bytes': String(2 * MAX_EVENT_BYTES) });
  await bench.createTopic(TOPICS.events, {});
  const value = JSON.stringify(buildEvent());
  const why = { 'reject-reason': 'not-handled', 'reject-detail': 'TypeError' };
  const origin = { 'origin-topic': TOPICS.events, 'origin-partition': '3', 'origin-offset': '17' };
  const whole = { key: 'a key', value, headers: { ...why, ...origin }, partition: 0 };
  await bench.publish(TOPICS.rejected, whole);
  // A foreign producer's batch was compressed. No broker takes it as it is.
  await bench.publish(TOPICS.rejected, { ...whole, partition: 2, value: ' '.repeat(MAX_EVENT_BYTES + 1) });
  const cut = { ...whole, partition: 1, headers: { ...whole.headers, 'original-size': '99' } };
  await bench.publish(TOPICS.rejected, cut);

  const listed = await run('rejected', 'list');
  const lines = listed.out.trim().split('\n').sort();
  const told = { offset: 0, reason: 'not-handled', detail: 'TypeError', origin: 'payments.events/3/17' };
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ ...told, partition: 0, bytes: Buffer.byteLength(value), isCut: false }),
    expect.objectContaining({ ...told, partition: 1, isCut: true }),
    expect.objectContaining({ ...told, partition: 2, isCut: false }),
  ]);
  expect(listed.out).not.toContain('endToEndId');

  const returned = await run('rejected', 'return');
  expect(returned).toEqual({ code: 0, out: '1 records returned, 2 are too large\n' });
  const seen = await bench.follow(TOPICS.events);
  await eventually(() => expect(seen.map((record) => String(record.value))).toEqual([value]));
  expect(await run('rejected', 'list')).toEqual({ code: 0, out: '' });
  expect((await run('rejected', 'return')).out).toBe('0 records returned, 0 are too large\n');

  await bench.publish(TOPICS.rejected, whole);
  expect((await run('lag')).out).toMatch(
    /^delivery-worker\.rejected \(0 members\) {2}payments\.events\.rejected: 1 records behind in 1 of 12 partitions$/m,
  );
  expect((await run('rejected', 'forget')).code).toBe(2);
  await bench.stop();
}, 120_000);
