const MAX_STRINGS = 65_536;

/**
 * Gives one copy of texts that are read again and again (tenants, event types, applications), so that a million
 * configurations do not keep a million copies. Bounded: beyond 65,536 texts further ones are kept as they come.
 */
export class StringPool {
  readonly #known = new Map<string, string>();

  get size(): number {
    return this.#known.size;
  }

  share(text: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (this.#known.size < MAX_STRINGS) this.#known.set(text, text);
    return text;
  }
}
