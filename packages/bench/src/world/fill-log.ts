import { MAX_PACK_ENTRIES, TOPICS, encodeAttemptPack } from '@webhooks/contracts';
import type { AttemptLogEntry } from '@webhooks/contracts';
import type { Message } from 'kafkajs';
import { makeLog } from '../load/make-log.js';
import type { LogPlan } from '../load/make-log.js';
import { fillTopic } from './kafka-tools.js';

/** Packs of one request: some 120 KB each, over 12 partitions, whose batches may have 4 MiB. */
const PACKS_AT_ONCE = 24;

function* packsOf(entries: Iterable<AttemptLogEntry>): Generator<Message> {
  let [pack, packs]: [AttemptLogEntry[], number] = [[], 0];
  const close = (): Message => {
    packs += 1;
    // A running number spreads packs over the partitions, as a worker's does.
    const message = { key: String(packs), value: encodeAttemptPack(pack) };
    pack = [];
    return message;
  };
  for (const entry of entries) {
    pack.push(entry);
    if (pack.length === MAX_PACK_ENTRIES) yield close();
  }
  if (pack.length > 0) yield close();
}

/** Writes the attempts of a plan to the topic in full packs, as workers at their limit do. */
export const fillLog = (brokers: readonly string[], plan: LogPlan): Promise<void> =>
  fillTopic(brokers, TOPICS.attempts, packsOf(makeLog(plan)), PACKS_AT_ONCE);
