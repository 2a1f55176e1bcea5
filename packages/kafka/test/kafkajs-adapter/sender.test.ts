import { eventually } from '@webhooks/testkit';
import type { Link } from '../../src/kafkajs-adapter/connect.js';
import { Sender } from '../../src/kafkajs-adapter/sender.js';
import { toPending, type PendingRecord } from '../../src/pending-record.js';
import type { ProduceResponse } from '../../src/protocol/produce-protocol.js';

const TOPIC = 'topic';
const BROKER = { partitionId: 0, leader: 1 };
const WRITTEN: ProduceResponse = {
  clientSideThrottleTime: 0,
  acks: [{ topic: TOPIC, partition: 0, errorCode: 0 }],
};

/** A cluster of one broker. It responds to its first produce requests as `responses` says, and writes what comes after. */
function linkTo(responses: (() => Promise<ProduceResponse>)[]) {
  let requests = 0;
  const send = () => {
    requests += 1;
    return responses.shift()?.() ?? Promise.resolve(WRITTEN);
  };
  const cluster = {
    findTopicPartitionMetadata: () => [BROKER],
    addMultipleTargetTopics: () => Promise.resolve(),
    refreshMetadata: () => Promise.resolve(),
    findBroker: () => Promise.resolve({ nodeId: BROKER.leader, connectionPool: { pool: [], send } }),
  };
  return { link: { cluster } as unknown as Link, requests: () => requests };
}

function recordOf(value: string, written: string[]): PendingRecord {
  return toPending({ topic: TOPIC, partition: 0, value }, Infinity, () => written.push(value));
}

describe('a record whose deadline passes while its request is on its way', () => {
  it('holds up no record behind it when that request fails', async () => {
    let fail = (): void => undefined;
    const first = new Promise<ProduceResponse>((_, reject) => {
      fail = () => reject(new Error('the connection was closed'));
    });
    const { link, requests } = linkTo([() => first]);
    const faults: unknown[] = [];
    const onState = (fault?: unknown) => {
      if (fault !== undefined) faults.push(fault);
    };
    const sender = new Sender({ link, log: () => undefined, maxBatchRecords: 10, onState });
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
