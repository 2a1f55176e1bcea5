import { TOPICS, headerText, parseAttemptPack } from '@webhooks/contracts';
import type { AttemptEntry, AttemptLogEntry } from '@webhooks/contracts';
import type { Followed } from './follow-records.js';
import { placeOf } from './fuzz-record.js';

export interface Rejected {
  readonly reason: string;
  readonly value: Buffer | null;
}

const read = (record: Followed, name: string): string => headerText(record.headers, name) ?? '';

/** One attempt among all; a task that is parked first is attempted from another place. */
export const attemptOf = ({
  deliveryId,
  cycle,
  attempt,
}: Pick<AttemptEntry, 'deliveryId' | 'cycle' | 'attempt'>): string => `${deliveryId}/${cycle}/${attempt}`;

/** All attempts of one delivery, or of one redelivery of it. */
export const cycleOf = ({ deliveryId, cycle }: Pick<AttemptEntry, 'deliveryId' | 'cycle'>): string =>
  `${deliveryId}/${cycle}`;

/** What the services wrote about records, by the place of the record. */
export class Seen {
  readonly rejected = new Map<string, Rejected>();
  /** Why a task could not be read. */
  readonly damaged = new Map<string, string>();
  /** Places that an entry of the attempt log names as its source. */
  readonly told = new Set<string>();
  /** What came of each attempt that was made, by `attemptOf`. */
  readonly attempted = new Map<string, AttemptEntry['result']>();
  /** What is dead or cancelled, by `cycleOf`. */
  readonly ended = new Set<string>();
  /** Packs with entries that their own reader refuses, by the pack's place. */
  readonly badPacks = new Map<string, string>();

  note(record: Followed): void {
    if (record.topic === TOPICS.rejected) this.#noteRejected(record);
    else if (record.topic === TOPICS.deadLetters) this.#noteDead(record);
    else this.#notePack(record);
  }

  forget(): void {
    this.rejected.clear();
    this.damaged.clear();
    this.told.clear();
    this.attempted.clear();
    this.ended.clear();
    this.badPacks.clear();
  }

  #noteRejected(record: Followed): void {
    const [topic, partition, offset] = ['topic', 'partition', 'offset'].map((name) =>
      read(record, `origin-${name}`),
    );
    const place = `${topic}/${partition}/${offset}`;
    this.rejected.set(place, { reason: read(record, 'reject-reason'), value: record.value });
  }

  #noteDead(record: Followed): void {
    const topic = read(record, 'damaged-topic');
    if (topic === '') return;
    const place = `${topic}/${read(record, 'damaged-partition')}/${read(record, 'damaged-offset')}`;
    this.damaged.set(place, read(record, 'dead-reason'));
  }

  #notePack(record: Followed): void {
    const parsed = parseAttemptPack(record.value ?? Buffer.alloc(0));
    if (!parsed.ok || parsed.damaged > 0)
      this.badPacks.set(placeOf(record), record.value?.toString('utf8') ?? 'null');
    for (const entry of parsed.ok ? parsed.pack.records : []) this.#noteEntry(entry);
  }

  #noteEntry(entry: AttemptLogEntry): void {
    this.told.add(placeOf(entry.source));
    if (entry.kind === 'attempt') this.attempted.set(attemptOf(entry), entry.result);
    if (entry.kind === 'dead' || entry.kind === 'cancelled') this.ended.add(cycleOf(entry));
  }
}
