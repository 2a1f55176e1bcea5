import {
  Closers,
  HealthBoard,
  NO_TRACING,
  Registry,
  type LogFields,
  type ServiceScope,
  SettingsReader,
} from '@webhooks/runtime';
import { eventually } from '@webhooks/testkit';
import { prepareTopics, replicated } from '../src/connect-kafka.js';
import { createKafka, fetchEndOffsets, readKafkaSettings } from '../src/index.js';

const SPEC = { name: 't', partitions: 1, configs: { 'cleanup.policy': 'compact' } };

describe('topics that a service creates', () => {
  it.each([
    [undefined, {}],
    [1, {}],
    [2, {}],
    [3, { 'min.insync.replicas': '2' }],
    [5, { 'min.insync.replicas': '2' }],
  ])('with %s replicas have, beyond their own configuration, %j', (replicationFactor, more) => {
    const [topic] = replicated([SPEC], replicationFactor === undefined ? {} : { replicationFactor });
    expect(topic?.configs).toEqual({ ...SPEC.configs, ...more });
    expect(topic?.replicationFactor).toBe(replicationFactor);
  });

  it('keep a minimum of in-sync replicas that their table names', () => {
    const configs = { 'min.insync.replicas': '3' };
    expect(replicated([{ ...SPEC, configs }], { replicationFactor: 5 })[0]?.configs).toEqual(configs);
  });
});

it('readiness names an address where nobody listens at once, and one log line does within 5 s', async () => {
  const lines: [string, LogFields | undefined][] = [];
  const log = (message: string, fields?: LogFields): void => void lines.push([message, fields]);
  const health = new HealthBoard();
  const closers = new Closers();
  const scope: ServiceScope = {
    ...{ health, registry: new Registry(), log: { debug: log, info: log, warn: log, error: log } },
    tracing: NO_TRACING,
    ...{
      onClose: (name, close) => closers.add(name, close),
      addPage: () => undefined,
      fail: () => undefined,
    },
  };
  const settings = { brokers: ['127.0.0.1:1'], clientId: 'test', createTopics: true };
  const kafka = createKafka(settings);
  const access = { topics: { t: ['Read'] }, groups: [] } as const;
  prepareTopics(kafka, settings, { topics: [SPEC], access }, scope).catch(scope.fail);
  await eventually(() => lines.length > 0);
  expect(health.isReady().faults['kafka access']).toMatch(
    /nothing responds at KAFKA_BROKERS=127.0.0.1:1 .*ECONNREFUSED/,
  );
  const error = expect.stringContaining('nothing responds at KAFKA_BROKERS=127.0.0.1:1') as string;
  expect(lines).toEqual([['checking Kafka failed; retrying', expect.objectContaining({ error })]]);
  await closers.closeAll(scope.log, 10_000);
  await kafka.close();
}, 20_000);

function read(brokers: string) {
  const settings = new SettingsReader({ KAFKA_BROKERS: brokers });
  const kafka = readKafkaSettings(settings, 'test');
  return { kafka, faults: settings.faults };
}

it.each(['localhost', 'http://localhost:9092', 'a:9092,b', '::1:9092', '[::1]', 'a:x'])(
  '%s is a fault among the others',
  (brokers) => {
    expect(read(brokers).faults).toEqual([
      'KAFKA_BROKERS must be host:port or [address]:port, separated by commas',
    ]);
  },
);

it('no broker at all is one fault', () => {
  expect(read('').faults).toEqual(['KAFKA_BROKERS is required: a list separated by commas']);
});

it('a broker with an IPv6 address in brackets is connected to', async () => {
  const { kafka: settings, faults } = read('[::1]:1');
  expect(faults).toEqual([]);
  const kafka = createKafka(settings);
  await expect(fetchEndOffsets(kafka, 't', { deadlineMs: 2_000 })).rejects.toThrow(
    /ECONNREFUSED ::1:1|EADDRNOTAVAIL ::1:1/,
  );
  await kafka.close();
});
