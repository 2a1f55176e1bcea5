import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { createUnloggedKafka } from '../src/kafka/broker-process.js';
import { emptyTestEngines, testKafkaBrokers, testMongoUri } from '../src/test-engines.js';

describe('the engines of the jest global setup', () => {
  it('offer a Kafka that keeps what is produced', async () => {
    const kafka = createUnloggedKafka(testKafkaBrokers(), 20);
    const topic = `smoke-${randomUUID()}`;
    const admin = kafka.admin();
    const producer = kafka.producer();
    await Promise.all([admin.connect(), producer.connect()]);
    await admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 1 }] });
    await producer.send({ topic, acks: -1, messages: [{ key: 'k', value: 'v' }] });
    await expect(admin.fetchTopicOffsets(topic)).resolves.toMatchObject([{ partition: 0, high: '1' }]);
    await admin.deleteTopics({ topics: [topic] });
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  it('offer a MongoDB with a database for each test', async () => {
    const client = new MongoClient(testMongoUri(`smoke_${randomUUID().slice(0, 8)}`));
    await client.db().collection('things').insertOne({ name: 'one' });
    await expect(client.db().collection('things').countDocuments({})).resolves.toBe(1);
    await client.db().dropDatabase();
    await client.close();
  });

  it('are emptied, and keep no record of earlier tests', async () => {
    const kafka = createUnloggedKafka(testKafkaBrokers(), 20);
    const admin = kafka.admin();
    await admin.connect();
    await admin.createTopics({ waitForLeaders: false, topics: [{ topic: 'left-over' }] });
    const client = new MongoClient(testMongoUri('left_over'));
    await client.db().collection('things').insertOne({ name: 'one' });
    await emptyTestEngines();
    await expect(admin.listTopics()).resolves.not.toContain('left-over');
    await expect(client.db().collection('things').countDocuments({})).resolves.toBe(0);
    await Promise.all([admin.disconnect(), client.close()]);
  });

  it('are not emptied when the environment names one of them', async () => {
    process.env['MONGODB_URI'] = 'mongodb://somebody';
    await expect(emptyTestEngines()).rejects.toThrow('unset MONGODB_URI');
    delete process.env['MONGODB_URI'];
  });

  it('cause a clear error when the setup did not run', () => {
    const before = process.env['TEST_MONGODB_URI'];
    delete process.env['TEST_MONGODB_URI'];
    try {
      expect(() => testMongoUri('any')).toThrow(/TEST_MONGODB_URI is not set: run jest with/);
    } finally {
      if (before !== undefined) process.env['TEST_MONGODB_URI'] = before;
    }
  });
});
