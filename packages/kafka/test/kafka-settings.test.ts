import { SettingsReader } from '@webhooks/runtime';
import { createKafka, fetchEndOffsets, readKafkaSettings } from '../src/index.js';

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

it('an IPv6 address in brackets is a broker, and connected to', async () => {
  const { kafka: settings, faults } = read('[::1]:1');
  expect(faults).toEqual([]);
  const kafka = createKafka(settings);
  await expect(fetchEndOffsets(kafka, 't', { deadlineMs: 2_000 })).rejects.toThrow(
    /ECONNREFUSED ::1:1|EADDRNOTAVAIL ::1:1/,
  );
  await kafka.close();
});
