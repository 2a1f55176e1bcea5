/** Record headers as a client library returns them: one value, several values of one name, or none. */
export type RecordHeaders = Readonly<Record<string, Buffer | string | (Buffer | string)[] | undefined>>;

/** Returns the text of a header, or undefined. The last of several values wins, as in the decoder of records. */
export function headerText(headers: RecordHeaders, name: string): string | undefined {
  const raw = headers[name];
  const last = Array.isArray(raw) ? raw.at(-1) : raw;
  return typeof last === 'string' ? last : last?.toString('utf8');
}

/** Returns the number in a header. Undefined when the header is absent or is no safe, non-negative integer. */
export function headerNumber(headers: RecordHeaders, name: string): number | undefined {
  const text = headerText(headers, name);
  if (text === undefined || !/^\d{1,16}$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}
