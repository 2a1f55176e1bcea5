import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { PaymentEvent } from '@webhooks/contracts';

/** Which way an event was given to the service. */
export type Door = 'ingest' | 'topic';

/** What the payment system writes down before and after each event, outside of the service. Times are Unix milliseconds. */
export type JournalLine =
  | { readonly kind: 'sent'; readonly at: number; readonly door: Door; readonly event: PaymentEvent }
  /** 202 of ingest, or Kafka's acknowledgement with `acks=all`. */
  | { readonly kind: 'accepted'; readonly at: number; readonly id: string };

/** An event of this run. Without `acceptedAt` nothing was promised: it may arrive or not. */
export interface SentEvent {
  readonly event: PaymentEvent;
  readonly door: Door;
  readonly sentAt: number;
  readonly acceptedAt?: number;
}

export interface Journal {
  /** The lines are with the kernel when this returns: a crash of the writer loses none. */
  append(lines: readonly JournalLine[]): void;
  /** Events that were accepted so far. */
  countAccepted(): number;
  close(): void;
}

export function openJournal(file: string): Journal {
  const descriptor = openSync(file, 'a');
  let accepted = 0;
  return {
    append: (lines) => {
      writeSync(descriptor, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      accepted += lines.filter(({ kind }) => kind === 'accepted').length;
    },
    countAccepted: () => accepted,
    close: () => closeSync(descriptor),
  };
}

/** Reads a journal whole: every event by its id. */
export function readJournal(file: string): ReadonlyMap<string, SentEvent> {
  const sent = new Map<string, SentEvent>();
  for (const text of readFileSync(file, 'utf8').split('\n')) {
    if (text === '') continue;
    const line = JSON.parse(text) as JournalLine;
    if (line.kind === 'sent') {
      sent.set(line.event.id, { event: line.event, door: line.door, sentAt: line.at });
      continue;
    }
    const known = sent.get(line.id);
    if (!known) throw new Error(`the journal accepts ${line.id}, which it never sent`);
    sent.set(line.id, { ...known, acceptedAt: line.at });
  }
  return sent;
}
