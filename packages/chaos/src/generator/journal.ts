import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { PaymentEvent } from '@webhooks/contracts';

/** The ways to give an event to the service. */
export const DOORS = ['ingest', 'topic'] as const;
export type Door = (typeof DOORS)[number];

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
  close(): void;
}

export function openJournal(file: string): Journal {
  const descriptor = openSync(file, 'a');
  return {
    append: (lines) => {
      writeSync(descriptor, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    },
    close: () => closeSync(descriptor),
  };
}

/** Reads a journal, line by line: every event by its id. */
export async function readJournal(file: string): Promise<ReadonlyMap<string, SentEvent>> {
  const sent = new Map<string, SentEvent>();
  for await (const text of createInterface({ input: createReadStream(file) })) {
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
