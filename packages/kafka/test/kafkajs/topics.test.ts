import { randomName } from '@webhooks/testkit';
import { ensureTopics, fetchEndOffsets, openSink, type LogLevel } from '../../src/index.js';
import { closeAll, kafkaAt, newTopic, sharedKafka } from '../support/cluster.js';

afterAll(closeAll);

describe('ensureTopics', () => {
  it('creates what is missing, with its partitions and configuration, and leaves what exists', async () => {
    const warnings: string[] = [];
    const kafka = sharedKafka((level: LogLevel, message) => {
      if (level === 'warn') warnings.push(message);
    });
    const name = randomName('topics');
    const spec = { name, partitions: 3, replicationFactor: 1, configs: { 'cleanup.policy': 'compact' } };
    await ensureTopics(kafka, [spec]);
    expect((await fetchEndOffsets(kafka, name)).size).toBe(3);
    expect(warnings).toEqual([]);
    await ensureTopics(kafka, [{ ...spec, partitions: 2 }]);
    expect((await fetchEndOffsets(kafka, name)).size).toBe(3);
    expect(warnings).toHaveLength(1);
  });

  it('works for several creators at once [createTopics({ waitForLeaders: true }) throws under load although the topic exists]', async () => {
    const specs = Array.from({ length: 20 }, () => ({
      name: randomName('topics'),
      partitions: 2,
      replicationFactor: 1,
      configs: {},
    }));
    await Promise.all(Array.from({ length: 4 }, () => ensureTopics(sharedKafka(), specs)));
    const kafka = sharedKafka();
    for (const { name } of specs) expect((await fetchEndOffsets(kafka, name)).size).toBe(2);
  });

  it('gives up at its deadline, saying why', async () => {
    const nowhere = kafkaAt(['127.0.0.1:1']);
    const spec = { name: 'never', partitions: 1, configs: {} };
    await expect(ensureTopics(nowhere, [spec], { deadlineMs: 700 })).rejects.toThrow(
      /ensureTopics: not done within 700 ms/,
    );
  });
});

describe('fetchEndOffsets', () => {
  it('counts what was written, for each partition', async () => {
    const kafka = sharedKafka();
    const topic = await newTopic(kafka, 2);
    const sink = await openSink({ kafka });
    await Promise.all(
      [
        { topic, partition: 0, value: 'a' },
        { topic, partition: 1, value: 'b' },
        { topic, partition: 1, value: 'c' },
      ].map((record) => sink.send(record)),
    );
    expect(await fetchEndOffsets(kafka, topic)).toEqual(
      new Map([
        [0, 1],
        [1, 2],
      ]),
    );
    await sink.close();
  });

  it('gives up at its deadline for a topic that does not exist', async () => {
    await expect(fetchEndOffsets(sharedKafka(), randomName('none'), { deadlineMs: 300 })).rejects.toThrow(
      /end offsets/,
    );
  });
});
