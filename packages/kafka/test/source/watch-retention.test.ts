import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Closers, Registry } from '@webhooks/runtime';
import { eventually, randomName } from '@webhooks/testkit';
import { ConfigResourceTypes, Kafka as Kafkajs, logLevel } from 'kafkajs';
import { openSource, watchRetention, type Kafka, type Source } from '../../src/index.js';
import { closeAll, newTopic, sharedKafka, sinkOn } from '../support/cluster.js';
import { collect } from '../support/collect.js';

const RULES = join(import.meta.dirname, '..', '..', '..', '..', 'deploy', 'prometheus', 'alerts.yaml');
const RECORDS = 10;
const RETENTION_MS = 3_000;

const noLog = (): undefined => undefined;
const log = { debug: noLog, info: noLog, warn: noLog, error: noLog };
const closers = new Closers();
let kafka: Kafka;
beforeAll(() => {
  kafka = sharedKafka();
});
afterAll(async () => {
  await closers.closeAll(log, 5_000);
  await closeAll();
});

/** From which value on an alert fires, as its rule says. */
function thresholdOf(alert: string): number {
  const rule = new RegExp(String.raw`alert: ${alert}\s+expr: webhook_retention_used_ratio > ([\d.]+)\n`);
  return Number(rule.exec(readFileSync(RULES, 'utf8'))?.[1]);
}

async function fill(topic: string): Promise<void> {
  const sink = await sinkOn(kafka);
  await Promise.all(
    Array.from({ length: RECORDS }, (_, n) => sink.send({ topic, key: `${n}`, value: `${n}` })),
  );
}

/** What the metric says of the source; undefined when it says nothing. */
function watch(source: Pick<Source, 'health'>, topic: string): () => Promise<number | undefined> {
  const registry = new Registry();
  const sources = new Map([['events', source]]);
  const scope = { registry, log, onClose: closers.add.bind(closers) };
  watchRetention({ kafka, topics: ['one-that-is-missing', topic], sources, everyMs: 50 }, scope);
  return async () => {
    const found = /^webhook_retention_used_ratio\{source="events"\} (\S+)$/m.exec(await registry.metrics());
    return found ? Number(found[1]) : undefined;
  };
}

/** A source that stands still until it is told to go on. */
async function openStandstill(
  topic: string,
): Promise<{ readonly source: Source; readonly goOn: () => void }> {
  const standstill = Promise.withResolvers<undefined>();
  const source = await openSource({
    kafka,
    groupId: randomName('group'),
    topics: [topic],
    // The last one of the records is not even taken.
    window: { maxInFlight: RECORDS - 1, maxInFlightBytes: 1_000_000 },
    handle: () => standstill.promise,
  });
  closers.add('source', async () => {
    standstill.resolve(undefined);
    await source.stop({ deadlineMs: 1_000 });
  });
  return { source, goOn: () => standstill.resolve(undefined) };
}

async function setRetention(topic: string, ms: number): Promise<void> {
  const admin = new Kafkajs({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const configEntries = [{ name: 'retention.ms', value: String(ms) }];
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries }],
  });
  await admin.disconnect();
}

describe('how much of the retention is used', () => {
  it('rises while a source stands still, and the alert fires while every record is still there', async () => {
    const threshold = thresholdOf('RetentionHalfUsed');
    expect(threshold).toBeLessThan(thresholdOf('RetentionNearlyUsed'));
    const topic = await newTopic(kafka, 1, {
      'retention.ms': String(RETENTION_MS),
      'message.timestamp.type': 'LogAppendTime',
    });
    await fill(topic);
    const { source, goOn } = await openStandstill(topic);
    const used = watch(source, topic);
    const fires = async (): Promise<boolean> => ((await used()) ?? 0) > threshold;
    expect(await fires()).toBe(false);
    await eventually(fires, { timeoutMs: 2 * RETENTION_MS, message: 'waiting for the alert' });
    expect(await used()).toBeLessThan(1);
    const { records, source: reader } = await collect(kafka, {
      groupId: randomName('group'),
      topics: [topic],
    });
    await eventually(() => records.length === RECORDS);
    await reader.stop({ deadlineMs: 1_000 });
    goOn();
    await eventually(async () => (await used()) === 0);
  });

  it('follows a change of the retention, and is 0 where nothing is deleted by age', async () => {
    const topic = await newTopic(kafka, 1, { 'retention.ms': '-1' });
    await fill(topic);
    const { source } = await openStandstill(topic);
    const used = watch(source, topic);
    await eventually(async () => (await used()) === 0);
    await setRetention(topic, 3_600_000);
    await eventually(async () => ((await used()) ?? 0) > 0);
    await setRetention(topic, 1);
    await eventually(async () => ((await used()) ?? 0) > 1);
  });

  it('is 0 for a compacted topic, and has no value while the settings cannot be read', async () => {
    const topic = await newTopic(kafka, 1, { 'cleanup.policy': 'compact', 'retention.ms': '1' });
    await fill(topic);
    const { source } = await openStandstill(topic);
    await eventually(() => source.health().oldestAgeMs > 1);
    const used = watch(source, topic);
    await eventually(async () => (await used()) === 0);
    const unknown = watch({ health: () => source.health() }, randomName('nowhere'));
    expect(await unknown()).toBeUndefined();
  });
});
