import type { KafkaRecord } from '@webhooks/kafka';
import { projectEvents } from '../../../src/transactions/project-events.js';
import { eventRecord, recordOf } from './events.js';
import type { Delivery, History } from './histories.js';
import { memoryStore } from './memory-store.js';
import type { MemoryStore } from './memory-store.js';

/** Takes the next of a list again and again. */
function cycle(list: readonly number[]): () => number {
  let at = 0;
  return () => list[at++ % list.length] ?? 0;
}

const UNREADABLE: readonly KafkaRecord[] = [
  recordOf(null),
  recordOf(Buffer.from('{"eventType":"PIX_OUT"')),
  recordOf(Buffer.from('{}'), { undecodable: 'an unknown codec' }),
];

/** The records of each partition, cut into batches. */
function batchesOf({ events, delivery }: History): KafkaRecord[][][] {
  const partition = cycle(delivery.partitions);
  const size = cycle(delivery.batchSizes);
  const partitions: KafkaRecord[][] = [[], [], [], []];
  for (const index of [...delivery.order, ...delivery.repeats]) {
    const event = events[index];
    if (event) partitions[partition()]?.push(eventRecord(event));
  }
  return partitions.map((records) => {
    const rest = [...records, ...UNREADABLE];
    const batches: KafkaRecord[][] = [];
    while (rest.length > 0) batches.push(rest.splice(0, 1 + size()));
    return batches;
  });
}

function pauseFor(delivery: Delivery): () => Promise<void> {
  const turns = cycle(delivery.pauses);
  return async () => {
    for (let left = turns(); left > 0; left -= 1) await Promise.resolve();
  };
}

/** Projects a history, each partition by an instance of its own and all at the same time. */
export async function play(history: History): Promise<MemoryStore> {
  const store = memoryStore(pauseFor(history.delivery));
  const ports = { store, keepNotifications: () => Promise.resolve() };
  const instance = async (batches: readonly KafkaRecord[][]): Promise<void> => {
    for (const batch of batches) await projectEvents(batch, ports);
  };
  await Promise.all(batchesOf(history).map(instance));
  return store;
}

/** Everything once more, by one instance. */
export async function replay({ events }: History, store: MemoryStore): Promise<void> {
  const records = events.map((event) => eventRecord(event));
  await projectEvents(records, { store, keepNotifications: () => Promise.resolve() });
}
