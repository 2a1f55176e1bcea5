/** Something that a door must never do, and the input that made it do so. */
export interface Finding {
  readonly door: string;
  /** Number of the input, from 0; with the seed it is made again. */
  readonly index: number;
  readonly what: string;
  /** The input as text that can be read; its begin, when it is long. */
  readonly input: string;
}

/** A door ends when it has so many: one fault shows in many inputs. */
const MAX_FINDINGS = 20;
const MAX_SHOWN = 2_000;

/** A token of this run is of no use to whoever repeats it. */
const withoutTokens = (text: string): string => text.replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>');

/** Bytes as text in which everything that is not printable is escaped, with the first 2,000 characters. */
export function showBytes(bytes: Buffer): string {
  const cut = bytes.length > MAX_SHOWN ? ` … ${bytes.length} bytes in all` : '';
  return `${JSON.stringify(withoutTokens(bytes.toString('latin1')).slice(0, MAX_SHOWN))}${cut}`;
}

/** What one door took and what came of it. */
export class Notes {
  readonly door: string;
  readonly #answers = new Map<string, number>();
  readonly #findings: Finding[] = [];
  #taken = 0;
  #hasFailed = false;

  constructor(door: string) {
    this.door = door;
  }

  /** One input was answered, or came to this end. */
  took(answer: string): void {
    this.#taken += 1;
    this.#answers.set(answer, (this.#answers.get(answer) ?? 0) + 1);
  }

  found(index: number, what: string, input: Buffer | string): void {
    if (this.isFull) return;
    const shown = typeof input === 'string' ? input.slice(0, MAX_SHOWN) : showBytes(input);
    this.#findings.push({ door: this.door, index, what, input: shown });
  }

  /** The fuzzer itself failed at this input: the door ends. */
  fails(index: number, what: string): void {
    this.#findings.push({ door: this.door, index, what, input: '' });
    this.#hasFailed = true;
  }

  get isFull(): boolean {
    return this.#hasFailed || this.#findings.length >= MAX_FINDINGS;
  }

  get taken(): number {
    return this.#taken;
  }

  get findings(): readonly Finding[] {
    return this.#findings;
  }

  /** How often each answer came, the most frequent first. */
  get answers(): readonly (readonly [string, number])[] {
    return [...this.#answers].sort(([, left], [, right]) => right - left);
  }
}
