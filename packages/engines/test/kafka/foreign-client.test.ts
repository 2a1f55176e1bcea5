import { runCommand } from '../../src/command.js';
import { findPython, ensurePythonPackage } from '../../src/python.js';
import { testKafkaBrokers } from '../../src/test-engines.js';
import { clientOf, endOffset, makeTopic, produce } from './broker-client.js';

// librdkafka, the client behind kcat and most languages, from PyPI.
const CONFLUENT = {
  requirement: 'confluent-kafka>=2.6,<3',
  name: 'confluent-kafka-2',
  title: 'a Kafka client for tests (confluent-kafka)',
};
const PROGRAM = `
import sys
from confluent_kafka import Producer
brokers, topic, codec, mode = sys.argv[1:]
settings = {"bootstrap.servers": brokers, "compression.type": codec, "linger.ms": 50}
if mode == "transactional":
    settings["transactional.id"] = topic
producer = Producer(settings)
failures = []
def send():
    for n in range(100):
        producer.produce(topic, key=str(n), value="value %d " % n * 20,
                         on_delivery=lambda error, _: error and failures.append(str(error)))
    producer.flush(20)
if mode == "transactional":
    producer.init_transactions(20)
    producer.begin_transaction()
    send()
    producer.commit_transaction(20)
else:
    send()
print("failed:", failures[:3])
`;

describe('the broker of the jest setup, for other clients', () => {
  const brokers = () => testKafkaBrokers();

  async function produceWithPython(topic: string, codec: string, mode: 'plain' | 'transactional') {
    const python = await findPython();
    const folder = await ensurePythonPackage(CONFLUENT, python, () => undefined);
    return runCommand(python.command, ['-c', PROGRAM, brokers().join(','), topic, codec, mode], {
      timeoutMs: 45_000,
      env: { PYTHONPATH: folder },
    });
  }

  it.each(['gzip', 'lz4', 'snappy', 'zstd'])(
    'accepts batches that librdkafka compressed with %s',
    async (codec) => {
      const topic = await makeTopic(clientOf(brokers()));
      const { output } = await produceWithPython(topic, codec, 'plain');
      expect(output).toMatch(/^failed: \[\]$/m);
      await expect(endOffset(clientOf(brokers()), topic)).resolves.toBe('100');
    },
  );

  it('runs transactions', async () => {
    const topic = await makeTopic(clientOf(brokers()));
    const { output } = await produceWithPython(topic, 'zstd', 'transactional');
    expect(output).toMatch(/^failed: \[\]$/m);
    await expect(endOffset(clientOf(brokers()), topic)).resolves.toBe('101');
  });

  it.each(['lz4', 'snappy', 'zstd'])('compresses with %s itself where a topic asks for it', async (codec) => {
    const topic = await makeTopic(clientOf(brokers()), { 'compression.type': codec });
    await produce(
      clientOf(brokers()),
      topic,
      Array.from({ length: 50 }, (_, n) => `value ${n}`.repeat(10)),
    );
    await expect(endOffset(clientOf(brokers()), topic)).resolves.toBe('50');
  });
});
