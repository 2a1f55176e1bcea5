import stringWidth from 'string-width';
import { run } from './support/run-webhooks.js';
import { delivery, startService, webhook } from './support/service.js';

const long = { ...webhook('https://shop.example.com/webhooks/pix/incoming'), applicationId: 'shop' };
const attempts = [
  { attempt: 1, cycle: '0', at: '2026-01-01T00:00:00Z', durationMs: 9, cause: 'Renew it. '.repeat(20) },
];
const full = {
  ...delivery,
  ref: long.ref,
  endToEndId: 'E'.repeat(32),
  reason: 'attempts-exhausted',
  attempts,
};

test.each([['list'], ['deliveries list'], ['deliveries show ID'], ['overview'], ['redeliveries list']])(
  'the table of %s fits a terminal of 80 columns, and nothing is cut',
  async (line) => {
    const overview = { ...long, state: 'failing', lastHour: { delivered: 1, failed: 1 } };
    const job = { id: long.ref, state: 'running', matched: 1, sent: 1, refused: 0, expired: 0 };
    const env = await startService({
      'GET /webhooks': () => [200, { results: 1, data: [long] }],
      'GET /webhooks/deliveries': () => [
        200,
        { results: 1, data: [{ ...full, endpointUrl: long.endpointUrl }] },
      ],
      'GET /webhooks/deliveries/ID': () => [200, full],
      'GET /webhooks/overview': () => [200, { results: 1, data: [overview], series: [] }],
      'GET /webhooks/redeliveries': () => [200, { results: 1, data: [job] }],
    });
    const wide = await run(line.split(' '), env);
    const narrow = await run(line.split(' '), { ...env, COLUMNS: '80' });
    expect(Math.max(...narrow.out.split('\n').map((one) => one.length))).toBeLessThanOrEqual(80);
    const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '');
    expect(words(narrow.out)).toEqual(words(wide.out));
    expect(Math.max(...wide.out.split('\n').map((one) => one.length))).toBeGreaterThan(80);
  },
);

test.each(['支払い', '\u{1f4b0}', 'e\u0301'])('%s in a cell shifts no column', async (wide) => {
  const data = [webhook('https://a.example.com/'), webhook(`https://a.example.com/${wide}`)].map(
    (one, index) => ({ ...one, applicationId: index === 0 ? 'shop' : wide }),
  );
  const env = await startService({ 'GET /webhooks': () => [200, { results: 2, data }] });
  const { out } = await run(['list'], env);
  const columns = out
    .trim()
    .split('\n')
    .map((line) => stringWidth(line.replace(/\S+$/, '')));
  expect(new Set(columns).size).toBe(1);
});
