import { useKafkaAddress } from '../../src/kafka/kafka-address.js';
import { testKafkaBrokers } from '../../src/test-engines.js';

describe('a Kafka named by KAFKA_BROKERS', () => {
  it('is used as it is, and is not ended', async () => {
    const kafka = await useKafkaAddress(` ${testKafkaBrokers().join(' , ')},127.0.0.1:9 `, 1_000);
    expect(kafka).toMatchObject({ kind: 'address', pid: undefined });
    expect(kafka.brokers).toEqual([...testKafkaBrokers(), '127.0.0.1:9']);
    expect(() => kafka.kill()).toThrow(/KAFKA_BROKERS names/);
    await expect(kafka.restart()).rejects.toThrow(/KAFKA_BROKERS names/);
    await kafka.stop();
    await expect(useKafkaAddress(testKafkaBrokers().join(','))).resolves.toBeDefined();
  });

  it('is explained when no broker serves', async () => {
    await expect(useKafkaAddress('127.0.0.1:9', 200)).rejects.toThrow(
      /KAFKA_BROKERS=127\.0\.0\.1:9: no broker served within 0\.2 s \(.*ECONNREFUSED.*\).*unset KAFKA_BROKERS/,
    );
  });
});
