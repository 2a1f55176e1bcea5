import type { IHeaders } from 'kafkajs';

/** A record that the fuzzer writes; `index` is the input's number. */
export interface FuzzRecord {
  readonly index: number;
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | string | null;
  readonly value: Buffer | null;
  readonly headers: IHeaders;
  /** Nothing that counts was damaged: it has to be handled as what it was made as, whatever a parser says. */
  readonly isValid: boolean;
}

/** Where it came to stand. */
export type WrittenRecord = FuzzRecord & { readonly offset: number };

export interface PlaceOf {
  readonly topic: string;
  readonly partition: number | string;
  readonly offset: number | string;
}

export const placeOf = ({ topic, partition, offset }: PlaceOf): string => `${topic}/${partition}/${offset}`;

const MAX_SHOWN = 600;
const show = (bytes: Buffer | string | null | undefined): string => {
  if (bytes === null || bytes === undefined) return 'null';
  const text = Buffer.from(bytes).toString('latin1');
  return (
    JSON.stringify(text.slice(0, MAX_SHOWN)) + (text.length > MAX_SHOWN ? ` … ${text.length} bytes` : '')
  );
};

/** A record as text that can be read. */
export function showRecord({ topic, partition, key, value, headers }: FuzzRecord): string {
  const lines = Object.entries(headers).map(
    ([name, text]) => `${JSON.stringify(name.slice(0, 60))}=${[text].flat().map(show).join(' and ')}`,
  );
  return `${topic}/${partition} key ${show(key)} value ${show(value)} headers ${lines.slice(0, 30).join(', ')}`;
}
