import { performance } from 'node:perf_hooks';
import { jest } from '@jest/globals';
import { eventually } from '@webhooks/testkit';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import type { QueuedRequest } from 'kafkajs/src/network/requestQueue/index.js';
import metadata from 'kafkajs/src/protocol/requests/metadata/v6/response.js';
import { openSink, openTableReader } from '../../src/index.js';
import { patchKafkajs } from '../../src/kafkajs/patch-kafkajs.js';
import { closeAll, newTopic, sharedKafka } from '../support/cluster.js';

// Error codes of the protocol guide.
const UNKNOWN_TOPIC_OR_PARTITION = 3;
const LEADER_NOT_AVAILABLE = 5;
const TOPIC_AUTHORIZATION_FAILED = 29;

afterAll(closeAll);

describe('kafkajs, patched', () => {
  it('refuses any other version than the one whose source was read', () => {
    expect(() => patchKafkajs('2.2.5')).toThrow(/written for kafkajs 2\.2\.4, found 2\.2\.5/);
    expect(() => patchKafkajs()).not.toThrow();
  });

  it('[a Map keeps what was in it until the next full collection] begins a new one when no request is in flight', () => {
    patchKafkajs();
    const queue = new RequestQueue({ logger: { debug: () => undefined }, maxInFlightRequests: null });
    const completed = jest.fn();
    const request = { completed } as unknown as QueuedRequest;
    const first = queue.inflight.set(1, request).set(2, request);
    queue.fulfillRequest({ correlationId: 2, payload: Buffer.alloc(0), size: 0 });
    expect(queue.inflight).toBe(first);
    queue.fulfillRequest({ correlationId: 1, payload: Buffer.alloc(0), size: 0 });
    expect(completed).toHaveBeenCalledTimes(2);
    expect(queue.inflight).not.toBe(first);
    expect(queue.inflight.size).toBe(0);
  });

  it('[the metadata of all topics is refused for one partition without a leader] takes what is known of the others', async () => {
    patchKafkajs();
    const ofTopic = (topicErrorCode: number, partitionErrorCode: number) => ({
      topicMetadata: [
        { topicErrorCode, partitionMetadata: [{ partitionErrorCode }, { partitionErrorCode: 0 }] },
      ],
    });
    await expect(metadata.parse(ofTopic(0, LEADER_NOT_AVAILABLE))).resolves.toEqual(ofTopic(0, 0));
    await expect(metadata.parse(ofTopic(0, TOPIC_AUTHORIZATION_FAILED))).rejects.toThrow(/authorized/);
    await expect(metadata.parse(ofTopic(UNKNOWN_TOPIC_OR_PARTITION, 0))).resolves.toEqual({
      topicMetadata: [],
    });
  });

  it('[a right that is lost on one topic stops the metadata of all] takes what it may see, and tells of a topic that is alone', async () => {
    patchKafkajs();
    const topic = (topicErrorCode: number) => ({ topicErrorCode, partitionMetadata: [] });
    const both = { topicMetadata: [topic(TOPIC_AUTHORIZATION_FAILED), topic(0)] };
    await expect(metadata.parse(both)).resolves.toEqual({ topicMetadata: [topic(0)] });
    const alone = { topicMetadata: [topic(TOPIC_AUTHORIZATION_FAILED)] };
    await expect(metadata.parse(alone)).rejects.toThrow(/authorized/);
  });

  it('[`RequestQueue` arms a negative timer: about 900 wake-ups a second for each idle socket] arms no negative timer, and few at all', async () => {
    const kafka = sharedKafka();
    const topic = await newTopic(kafka, 4, { 'cleanup.policy': 'compact' });
    const sink = await openSink({ kafka });
    const reader = openTableReader({ kafka, topic, onRecord: () => undefined });
    await sink.send({ topic, key: 'a', value: 'a' });
    await reader.whenFresh();
    const timeout = jest.spyOn(globalThis, 'setTimeout');
    const interval = jest.spyOn(globalThis, 'setInterval');
    const end = performance.now() + 2_000;
    await eventually(() => performance.now() > end, { intervalMs: 100 });
    const armed = [...timeout.mock.calls, ...interval.mock.calls];
    timeout.mockRestore();
    interval.mockRestore();
    expect(armed.filter(([, delayMs]) => (delayMs ?? 0) < 0)).toEqual([]);
    expect(armed.length).toBeLessThan(40); // two seconds, ten fetches
    await reader.close();
    await sink.close();
  });
});
