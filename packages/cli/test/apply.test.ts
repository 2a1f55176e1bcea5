import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyHome, run, runProcess } from './support/run-webhooks.js';
import { startService, webhook } from './support/service.js';

const declared = (...entries: readonly object[]): string => {
  const file = join(emptyHome()['XDG_CONFIG_HOME'] ?? '', 'webhooks.yaml');
  writeFileSync(file, JSON.stringify({ webhooks: entries }));
  return file;
};
const entry = (endpointUrl: string) => ({ eventType: 'PIX_OUT', endpointUrl });

test('apply that is refused in the middle says what was done, and which one was refused', async () => {
  const refused = { title: 'Refused', detail: 'not this one', code: 'invalid-endpoint-url' };
  const env = await startService({
    'GET /webhooks': () => [200, { results: 0, data: [] }],
    'POST /webhooks': (nth) => (nth === 2 ? [422, refused] : [200, webhook('https://a.example.com/')]),
  });
  const urls = ['https://a.example.com/', 'https://b.example.com/', 'https://c.example.com/'];
  const { code, err } = await run(['apply', '--yes', '-f', declared(...urls.map(entry))], env);
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/1 of 3 changes made; https:\/\/b\.example\.com\/: .*not this/),
  ]);
});

test.each([
  ['the same place twice', [entry('https://A.example.com'), entry('https://a.example.com/')], /twice/],
  [
    'the same ref twice',
    [
      { ...entry('https://a.example.com/'), ref: 'A0000000-0000-4000-8000-000000000000' },
      { ...entry('https://b.example.com/'), ref: 'a0000000-0000-4000-8000-000000000000' },
    ],
    /twice/,
  ],
  ['a ref that is a number', [{ ...entry('https://a.example.com/'), ref: 5 }], /:1: ref cannot be 5/],
])('apply refuses a file with %s', async (_what, entries, says) => {
  const { code, err } = await run(['apply', '--yes', '-f', declared(...entries)], emptyHome());
  expect([code, err]).toEqual([2, expect.stringMatching(says)]);
});

const WRONG = `defaults: &shop
  applicationId: shop
webhooks:
  - <<: *shop
    eventType: PIX_OUT
    endpointUrl: https://a.example.com/
  - eventType: PIX_UNKNOWN
    endpointUrl: https://b.example.com/
  - eventType: PIX_OUT
    endpointUrl: http://c.example.com/
  - { eventType: PIX_OUT, endpoint: 'https://d.example.com/' }
  - { eventType: PIX_OUT, endpointUrl: 'https://A.example.com', <<: *shop }
  - just text
`;

test('apply reads standard input and names the line of each wrong entry before it changes any', async () => {
  const { code, err } = await runProcess(['apply', '-f', '-', '--yes'], emptyHome(), WRONG);
  expect(code).toBe(2);
  expect(err.split('\n').slice(0, 5)).toEqual([
    '-:7: eventType cannot be "PIX_UNKNOWN"',
    '-:9: endpointUrl cannot be "http://c.example.com/"',
    expect.stringMatching(/^-:11: endpoint is unknown; an entry may have ref, eventType/),
    '-:12: the same webhook twice',
    '-:13: eventType is missing',
  ]);
});

test('apply takes what an anchor declares', async () => {
  const env = await startService({ 'GET /webhooks': () => [200, { results: 0, data: [] }] });
  const file = declared();
  writeFileSync(file, WRONG.split('\n').slice(0, 6).join('\n'));
  const { out } = await run(['apply', '-f', file], env);
  expect(out).toMatch(/create +– +PIX_OUT +https:\/\/a\.example\.com\/ +shop/);
});

test('a broken YAML file is told by its line', async () => {
  const { code, err } = await runProcess(['apply', '-f', '-'], emptyHome(), 'webhooks:\n  - "open\n');
  expect([code, err]).toEqual([2, expect.stringMatching(/^-: .* at line \d/)]);
});
