import { jest } from '@jest/globals';
import type { ApiRequest } from '@webhooks/http-api';
import { readCandidates } from '../src/read-candidates.js';

const request = (type: string, text: string): ApiRequest =>
  ({ header: () => type, body: Buffer.from(text) }) as unknown as ApiRequest;

it.each([
  [
    '524,288 broken lines',
    'application/x-ndjson',
    '{\n'.repeat(524_288),
    'must not hold more than 1000 events, or 2000 lines',
  ],
  [
    'a million empty lines',
    'application/x-ndjson',
    '\n'.repeat(1_048_576),
    'must not hold more than 1000 events, or 2000 lines',
  ],
  [
    'an array of 500,000 numbers',
    'application/json',
    `[${'1,'.repeat(500_000)}1]`,
    'contains too many values',
  ],
])('%s are refused before any of them is parsed', (_what, type, text, reason) => {
  const parse = jest.spyOn(JSON, 'parse');
  expect(() => readCandidates(request(type, text))).toThrow(reason);
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
});

it('2,000 lines are read, each with its end', () => {
  const { candidates } = readCandidates(request('application/x-ndjson', '{}\n\n'.repeat(1_000)));
  expect(candidates).toHaveLength(1_000);
  expect(candidates.at(-1)).toEqual({ value: {}, line: 1_999 });
});

it('a line that is no UTF-8 is a fault of its own', () => {
  const body = Buffer.concat([Buffer.from('{"unknown":"'), Buffer.from([0xff]), Buffer.from('"}\n{}')]);
  const { candidates } = readCandidates({
    header: () => 'application/x-ndjson',
    body,
  } as unknown as ApiRequest);
  expect(candidates).toEqual([
    { fault: 'must be UTF-8', line: 1 },
    { value: {}, line: 2 },
  ]);
});

it('a byte order mark before the first line is no part of it', () => {
  const { candidates } = readCandidates(request('application/x-ndjson', '\ufeff{"a":1}\n{"b":2}\n'));
  expect(candidates).toEqual([
    { value: { a: 1 }, line: 1 },
    { value: { b: 2 }, line: 2 },
  ]);
});

it.each(['application/json; charset=iso-8859-1', 'application/x-ndjson;charset="UTF-16"'])(
  'a body as %s is refused as a whole',
  (type) => {
    expect(() => readCandidates(request(type, '{}'))).toThrow(
      'Content-Type must have no charset other than UTF-8',
    );
  },
);

it('all lines together hold no more values than one body', () => {
  const line = (values: number): string => `{"x":[${'1,'.repeat(values)}1]}`;
  const parse = jest.spyOn(JSON, 'parse');
  const { candidates } = readCandidates(
    request('application/x-ndjson', [line(63_000), line(10), line(60_000), line(1)].join('\n')),
  );
  const fault = 'contains too many values';
  expect(candidates.map((candidate) => ('fault' in candidate ? candidate.fault : 'read'))).toEqual([
    ...['read', 'read'],
    ...[fault, fault],
  ]);
  expect(parse).toHaveBeenCalledTimes(2);
  parse.mockRestore();
});
