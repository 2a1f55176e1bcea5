/** Record headers as a client library gives them: absent, one value, or several of one name. */
export type RecordHeaders = Readonly<Record<string, Buffer | string | (Buffer | string)[] | undefined>>;

/** Text of a header, or undefined; of several with one name the last counts, as for those who read records from the wire. */
export function headerText(headers: RecordHeaders, name: string): string | undefined {
  const raw = headers[name];
  const last = Array.isArray(raw) ? raw.at(-1) : raw;
  return typeof last === 'string' ? last : last?.toString('utf8');
}

/** A whole, non-negative number of a header, or undefined when it is absent or is none. */
export function headerNumber(headers: RecordHeaders, name: string): number | undefined {
  const text = headerText(headers, name);
  if (text === undefined || !/^\d{1,16}$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}
