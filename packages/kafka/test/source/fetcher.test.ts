import { eventually } from '@webhooks/testkit';
import type { Connections } from '../../src/kafkajs/connections.js';
import { noLog } from '../../src/logger.js';
import { isFatal } from '../../src/faults.js';
import { Fetcher, type Feed } from '../../src/source/fetcher.js';
import type { FetchedPartition } from '../../src/wire/protocol.js';
import { closeAll, newTopic, sharedKafka, sinkOn } from '../support/cluster.js';

afterAll(closeAll);

const GONE = 1_000;

/** Fetches an offset that does not exist; `onRefused` is called before the earliest one is asked for. */
async function fetchGone(onRefused: (seek: (offset: number) => void) => void) {
  const kafka = sharedKafka();
  const topic = await newTopic(kafka);
  const connections = kafka.openConnections(10_000);
  const resets: number[] = [];
  let wanted = GONE;
  let responses = 0;
  const seek = (offset: number) => {
    wanted = offset;
  };
  const feed: Feed = {
    topic,
    partition: 0,
    maxBytes: 1_000,
    fetchOffset: () => wanted,
    accept: () => {
      responses += 1;
    },
    resetTo: (earliest) => {
      resets.push(earliest);
      seek(earliest);
    },
  };
  const fetcher = new Fetcher({
    connections,
    feeds: () => [feed],
    onError: (error) => {
      if (String(error).includes('OFFSET_OUT_OF_RANGE')) onRefused(seek);
    },
    maxWaitMs: 100,
  });
  fetcher.kick();
  await eventually(() => responses >= 3);
  fetcher.stop();
  await connections.close();
  return resets;
}

describe('a fetch of an offset that does not exist', () => {
  it('continues at the earliest offset', async () => {
    expect(await fetchGone(() => undefined)).toEqual([0]);
  });

  it('is ignored when the reader wants another offset meanwhile', async () => {
    expect(await fetchGone((seek) => seek(0))).toEqual([]);
  });
});

describe('a response that has space for one partition', () => {
  const PARTITIONS = [0, 1, 2, 3, 4, 5];
  /** Two do not fit in a response of 960 KiB. */
  const BLOCK_BYTES = 600_000;

  /** In how many responses each partition had something, once all had: each wants the same block again and again. */
  async function fetchByTurns(): Promise<readonly number[]> {
    const kafka = sharedKafka();
    const topic = await newTopic(kafka, PARTITIONS.length);
    const sink = await sinkOn(kafka);
    const value = Buffer.alloc(BLOCK_BYTES);
    await Promise.all(PARTITIONS.map((partition) => sink.send({ topic, partition, key: 'k', value })));
    const served = PARTITIONS.map(() => 0);
    const feeds = PARTITIONS.map((partition): Feed => ({
      topic,
      partition,
      maxBytes: 2 * BLOCK_BYTES,
      fetchOffset: () => 0,
      accept: ({ records }) => {
        if (records.length > 0) served[partition] = (served[partition] ?? 0) + 1;
      },
      resetTo: () => undefined,
    }));
    const connections = kafka.openConnections(10_000);
    const fetcher = new Fetcher({
      connections,
      feeds: () => feeds,
      onError: () => undefined,
      maxWaitMs: 100,
      // Not once in this test, because more waits than a response holds.
      minIntervalMs: 600_000,
    });
    fetcher.kick();
    await eventually(() => served.every((times) => times >= 3));
    fetcher.stop();
    await connections.close();
    return served;
  }

  it('holds another partition each time, and the next request follows at once', async () => {
    const served = await fetchByTurns();
    expect(Math.max(...served) - Math.min(...served)).toBeLessThanOrEqual(1);
  });
});

it('fetches at once when it is told to, whatever is left of the shortest interval', async () => {
  const kafka = sharedKafka();
  const topic = await newTopic(kafka);
  const sink = await sinkOn(kafka);
  let end = 0;
  const feed: Feed = {
    ...{ topic, partition: 0, maxBytes: 1_000 },
    fetchOffset: () => end,
    accept: ({ highWatermark }) => (end = highWatermark),
    resetTo: () => undefined,
  };
  const connections = kafka.openConnections(10_000);
  const feeds = () => [feed];
  const fetcher = new Fetcher({
    ...{ connections, feeds, onError: () => undefined, maxWaitMs: 100, minIntervalMs: 600_000 },
  });
  fetcher.kick();
  for (const sent of [1, 2, 3]) {
    await sink.send({ topic, key: 'k', value: Buffer.alloc(1) });
    fetcher.fetchNow();
    await eventually(() => end === sent);
  }
  fetcher.stop();
  await connections.close();
});

it('a fetch of a version that the broker does not support is a fatal fault', async () => {
  const UNSUPPORTED_VERSION = 35;
  const place = { topic: 't', partition: 0 };
  const refused: FetchedPartition = {
    ...{ ...place, errorCode: UNSUPPORTED_VERSION, highWatermark: -1, logStart: -1 },
    ...{ aborted: [], records: Buffer.alloc(0) },
  };
  const send = () => Promise.resolve({ clientSideThrottleTime: 0, errorCode: 0, partitions: [refused] });
  const cluster = {
    findTopicPartitionMetadata: () => [{ partitionId: 0, leader: 1 }],
    addMultipleTargetTopics: () => Promise.resolve(),
    refreshMetadata: () => Promise.resolve(),
    findBroker: () => Promise.resolve({ nodeId: 1, connectionPool: { pool: [], send } }),
  };
  const nothing = () => undefined;
  const feed: Feed = { ...place, maxBytes: 1, fetchOffset: () => 0, accept: nothing, resetTo: nothing };
  const errors: unknown[] = [];
  const fetcher = new Fetcher({
    connections: { cluster, log: noLog, metadataMaxAgeMs: 10_000 } as unknown as Connections,
    feeds: () => [feed],
    onError: (error) => errors.push(error),
    maxWaitMs: 100,
  });
  fetcher.kick();
  await eventually(() => errors.some(isFatal));
  fetcher.stop();
});
