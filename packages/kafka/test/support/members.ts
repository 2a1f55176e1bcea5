import { openSource, type Kafka, type Source } from '../../src/index.js';
import { kafkaAt } from './cluster.js';

export interface Member {
  readonly source: Source;
  /** Values handled, in order. */
  readonly handled: string[];
}

export interface MemberOptions {
  readonly groupId: string;
  readonly topic: string;
  /** Time one record takes. */
  readonly workMs?: number;
  readonly maxInFlight?: number;
  /** Default: one that nobody else has. */
  readonly clientId?: string;
  /** See `Window`. */
  readonly hasCapacity?: () => boolean;
}

/** One more member of a group, that writes down what it handled. */
export async function openMember(kafka: Kafka, options: MemberOptions): Promise<Member> {
  const { groupId, topic, workMs = 0, maxInFlight = 100, clientId, hasCapacity = () => true } = options;
  const handled: string[] = [];
  const source = await openSource({
    kafka: kafkaAt(kafka.brokers, kafka.log, clientId),
    groupId,
    topics: [topic],
    window: { maxInFlight, maxInFlightBytes: 10_000_000, hasCapacity },
    handle: (record) =>
      new Promise<void>((resolve) => {
        setTimeout(() => {
          handled.push(String(record.value));
          resolve();
        }, workMs);
      }),
  });
  return { source, handled };
}

export const partitionsOf = ({ source }: Pick<Member, 'source'>): number =>
  Object.keys(source.health().lagByPartition).length;

export interface Handled {
  readonly lost: number;
  readonly repeats: number;
}

/** Compares what was handled with the numbers 0…count-1 that were written. */
export function balance(handled: readonly string[], count: number): Handled {
  const distinct = new Set(handled);
  let lost = 0;
  for (let n = 0; n < count; n += 1) if (!distinct.has(`${n}`)) lost += 1;
  return { lost, repeats: handled.length - distinct.size };
}
