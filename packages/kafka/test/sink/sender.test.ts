import { eventually } from '@webhooks/testkit';
import type { ProtocolRequest } from 'kafkajs/src/cluster/index.js';
import type { Connections } from '../../src/kafkajs/connections.js';
import { Sender } from '../../src/sink/sender.js';
import { toPending, type PendingRecord } from '../../src/sink/pending-record.js';
import type { produceRequest } from '../../src/wire/protocol.js';

type ProduceResponse = Parameters<ReturnType<typeof produceRequest>['response']['parse']>[0];

const TOPIC = 'topic';
const LEADER = 1;
const PARTITIONS = [0, 1].map((partitionId) => ({ partitionId, leader: LEADER }));
const WRITTEN: ProduceResponse = {
  clientSideThrottleTime: 0,
  acks: [{ topic: TOPIC, partition: 0, errorCode: 0 }],
};

/** A cluster of one broker. It responds to its first produce requests as `responses` says, and writes what comes after. */
function connectionsTo(responses: (() => Promise<ProduceResponse>)[], judge = (_request: Buffer) => WRITTEN) {
  let requests = 0;
  const send = async ({ request }: ProtocolRequest<ProduceResponse>) => {
    requests += 1;
    return responses.shift()?.() ?? judge((await request.encode()).buffer);
  };
  const cluster = {
    findTopicPartitionMetadata: () => PARTITIONS,
    addMultipleTargetTopics: () => Promise.resolve(),
    refreshMetadata: () => Promise.resolve(),
    findBroker: () => Promise.resolve({ nodeId: LEADER, connectionPool: { pool: [], send } }),
  };
  return {
    connections: { cluster, log: () => undefined, metadataMaxAgeMs: 60_000 } as unknown as Connections,
    requests: () => requests,
  };
}

function recordOf(value: string, written: string[], partition = 0): PendingRecord {
  return toPending({ topic: TOPIC, partition, value }, Infinity, () => written.push(value));
}

describe('a record whose deadline passes while its request is on its way', () => {
  it('holds up no record behind it when that request fails', async () => {
    let fail = (): void => undefined;
    const first = new Promise<ProduceResponse>((_, reject) => {
      fail = () => reject(new Error('the connection was closed'));
    });
    const { connections, requests } = connectionsTo([() => first]);
    const faults: unknown[] = [];
    const onState = (fault?: unknown) => {
      if (fault !== undefined) faults.push(fault);
    };
    const sender = new Sender({ connections, maxBatchRecords: 10, onState });
    const written: string[] = [];
    const expired = recordOf('expired', written);
    sender.add(expired);
    sender.flush();
    await eventually(() => requests() === 1);
    expired.isSettled = true;
    fail();
    await eventually(() => faults.length === 1);
    sender.add(recordOf('behind it', written));
    sender.flush();
    await eventually(() => written.length === 1, { timeoutMs: 3_000 });
    expect(written).toEqual(['behind it']);
    sender.stop();
  });
});

it('a partition that refuses writes for a while delays no other partition of its broker', async () => {
  const NOT_ENOUGH_REPLICAS = 19;
  const RECORDS = 50;
  let refusals = 0;
  const judge = (request: Buffer): ProduceResponse => {
    const isRefused = request.includes('refused');
    if (isRefused) refusals += 1;
    const acks = [
      { topic: TOPIC, partition: 0, errorCode: isRefused ? NOT_ENOUGH_REPLICAS : 0 },
      { topic: TOPIC, partition: 1, errorCode: 0 },
    ];
    return { ...WRITTEN, acks };
  };
  const { connections } = connectionsTo([], judge);
  const sender = new Sender({ connections, maxBatchRecords: 10, onState: () => undefined });
  const written: string[] = [];
  sender.add(recordOf('refused', []));
  for (let sent = 0; sent < RECORDS; sent += 1) {
    sender.add(recordOf('other', written, 1));
    sender.flush();
    await eventually(() => written.length > sent, { timeoutMs: 3_000, intervalMs: 1 });
  }
  expect(refusals).toBeGreaterThan(0);
  expect(refusals).toBeLessThan(RECORDS / 2);
  sender.stop();
});

it('a batch that the response leaves out is sent again', async () => {
  const { connections, requests } = connectionsTo([() => Promise.resolve({ ...WRITTEN, acks: [] })]);
  const sender = new Sender({ connections, maxBatchRecords: 10, onState: () => undefined });
  const written: string[] = [];
  sender.add(recordOf('once', written));
  sender.flush();
  await eventually(() => written.length === 1, { timeoutMs: 3_000 });
  expect(requests()).toBe(2);
  sender.stop();
});

it('refused records of a batch are found by halving it, and the others are written in order', async () => {
  const MESSAGE_TOO_LARGE = 10;
  const log: number[] = [];
  const judge = (request: Buffer): ProduceResponse => {
    const numbers = [...request.toString('latin1').matchAll(/(good|bad)-(\d+);/g)];
    if (numbers.some(([, kind]) => kind === 'bad'))
      return { ...WRITTEN, acks: [{ topic: TOPIC, partition: 0, errorCode: MESSAGE_TOO_LARGE }] };
    log.push(...numbers.map(([, , number]) => Number(number)));
    return WRITTEN;
  };
  const { connections, requests } = connectionsTo([], judge);
  const sender = new Sender({ connections, maxBatchRecords: 500, onState: () => undefined });
  const refused: number[] = [];
  let open = 1_000;
  for (let n = 0; n < 1_000; n += 1) {
    const settle = (error?: Error) => {
      open -= 1;
      if (error) refused.push(n);
    };
    const value = `${n % 300 === 7 ? 'bad' : 'good'}-${n};`;
    sender.add(toPending({ topic: TOPIC, partition: 0, value }, Infinity, settle));
  }
  sender.flush();
  await eventually(() => open === 0, { timeoutMs: 3_000 });
  expect(refused).toEqual([7, 307, 607, 907]);
  expect(log).toEqual(Array.from({ length: 1_000 }, (_, n) => n).filter((n) => n % 300 !== 7));
  expect(requests()).toBeLessThan(120);
  sender.stop();
});
