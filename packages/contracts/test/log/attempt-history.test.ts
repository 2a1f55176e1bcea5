import {
  MAX_HISTORY_CHARACTERS,
  appendAttempt,
  parseAttemptHistory,
  readAttemptHistory,
} from '../../src/index.js';
import type { HistoryEntry } from '../../src/index.js';

const entry = (attempt: number, over: Partial<HistoryEntry> = {}): HistoryEntry => ({
  attempt,
  at: 1_795_269_803_100 + attempt,
  durationMs: 10_000,
  result: attempt % 2 === 0 ? 503 : 'CONNECT_TIMEOUT',
  ...over,
});
const historyOf = (entries: readonly HistoryEntry[]): string =>
  entries.reduce<string | undefined>(appendAttempt, undefined) ?? '';

describe('the history of a delivery', () => {
  it('reads back the numbers, times and results of each attempt', () => {
    const entries = [
      entry(1),
      entry(2),
      entry(3, { result: 'TLS', code: 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', durationMs: 0 }),
    ];
    expect(parseAttemptHistory(historyOf(entries))).toEqual(entries);
    expect(historyOf(entries)).toMatch(/^v1 1:1795269803101:10000:CONNECT_TIMEOUT 2:/);
  });

  it('has room for the 51 attempts of the longest schedule', () => {
    const longest = { result: 'TLS', code: 'ERR_SSL_TLSV1_BAD_CERTIFICATE_STATUS_RESPONSE' };
    const entries = Array.from({ length: 51 }, (_, index) => entry(index + 1, longest));
    expect(parseAttemptHistory(historyOf(entries))).toEqual(entries);
  });

  it('is bounded: the first entry and the newest stay, the oldest between them are cut', () => {
    const entries = Array.from({ length: 500 }, (_, index) => entry(index + 1));
    const text = historyOf(entries);
    expect(text.length).toBeLessThanOrEqual(MAX_HISTORY_CHARACTERS);
    const kept = parseAttemptHistory(text);
    expect(kept.length).toBeGreaterThan(90);
    expect(kept).toEqual([entries[0], ...entries.slice(1 - kept.length)]);
  });

  it('reads only digits of an HTTP status as a status, and other digits as a word', () => {
    const read = parseAttemptHistory('v1 1:5:6:000 2:5:6:099 3:5:6:100 4:5:6:999');
    expect(read.map(({ result }) => result)).toEqual(['000', '099', 100, 999]);
  });

  it('leaves out an entry with an impossible time or an impossible attempt number', () => {
    const read = parseAttemptHistory(
      'v1 1:253402300800000:1:503 2:9999999999999999:1:TLS 0:5:1:503 3:253402300799999:1:503',
    );
    expect(read.map(({ attempt }) => attempt)).toEqual([3]);
  });

  it('is none before the first attempt', () => {
    expect(parseAttemptHistory(undefined)).toEqual([]);
    expect(readAttemptHistory(undefined)).toBeUndefined();
  });

  it('keeps the unknown fields of a later format', () => {
    const later = 'v2 1:1795269803101:12:503:EU-west 2:1795269803102:9:TLS:EPROTO:x=1';
    expect(readAttemptHistory(later)).toBe(later);
    const longer = appendAttempt(later, entry(3));
    expect(longer.startsWith(`${later} 3:`)).toBe(true);
    expect(parseAttemptHistory(longer).map(({ attempt, result, code }) => [attempt, result, code])).toEqual([
      [1, 503, undefined],
      [2, 'TLS', 'EPROTO'],
      [3, 'CONNECT_TIMEOUT', undefined],
    ]);
  });

  it.each([
    ['v1 1:5:6:500 damaged 3:7:8:TLS', [1, 3]],
    ['v1 1:5:6:500 2:-7:8:TLS 3:7:8:a\nb', [1]],
    ['1:5:6:500', [1]],
    [`v1 1:5:6:500 ${'x'.repeat(1_000_000)}`, [1]],
    ['\u0000', []],
  ])('keeps what can be read of a damaged one: %.40j', (text, attempts) => {
    const read = readAttemptHistory(text);
    expect(parseAttemptHistory(read).map(({ attempt }) => attempt)).toEqual(attempts);
    expect(read?.length ?? 0).toBeLessThanOrEqual(MAX_HISTORY_CHARACTERS);
  });

  it('cleans words that would break its form', () => {
    const text = appendAttempt(undefined, { attempt: 1, at: 5.4, durationMs: -3, result: 'a b:c\n' });
    expect(text).toBe('v1 1:5:0:a_b_c_');
    expect(readAttemptHistory(text)).toBe(text);
  });
});
