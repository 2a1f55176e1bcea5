import { run, runProcess } from './support/run-webhooks.js';
import { delivery, startService } from './support/service.js';

const TZ = 'America/New_York';

/** The `from` that the service gets, and what the command says. */
async function listSince(from: string, zone = TZ) {
  let sent = '';
  const env = await startService({
    'GET /webhooks/deliveries': (_nth, { url = '' }) => {
      sent = new URLSearchParams(url.split('?')[1]).get('from') ?? '';
      return [200, { results: 1, data: [delivery] }];
    },
  });
  return { ...(await run(['deliveries', 'list', '--from', from], { ...env, TZ: zone })), sent };
}

test.each([
  ['2026-07-01', TZ, '2026-07-01T04:00:00.000Z', 'from 2026-07-01T00:00:00-04:00 (America/New_York)'],
  ['2026-01-05T14:03', TZ, '2026-01-05T19:03:00.000Z', 'from 2026-01-05T14:03:00-05:00 (America/New_York)'],
  ['2026-01-05T14:03:07.5', 'Asia/Kolkata', '2026-01-05T08:33:07.500Z', 'from 2026-01-05T14:03:07+05:30 ('],
  ['2026-01-05T14:03-03:00', TZ, '2026-01-05T17:03:00.000Z', 'from 2026-01-05T12:03:00-05:00 ('],
  ['2026-01-05T14:03Z', 'UTC', '2026-01-05T14:03:00.000Z', 'from 2026-01-05T14:03:00'],
])('--from %s in %s is %s, and the zone is echoed', async (typed, zone, sent, echo) => {
  const listed = await listSince(typed, zone);
  expect([listed.code, listed.sent]).toEqual([0, sent]);
  expect(listed.err).toContain(echo);
});

test('a time alone is of today, in the zone of this machine', async () => {
  const before = new Date().toLocaleDateString('sv', { timeZone: TZ });
  const { err } = await listSince('14:03');
  const after = new Date().toLocaleDateString('sv', { timeZone: TZ });
  expect([before, after]).toContain(/^from (\S{10})T14:03:00-0[45]:00 /.exec(err)?.[1]);
});

test.each(['2026-02-30', '2026-02-29T14:03', '2026-04-31', '2026-13-01', '25:00', '14:60', 'last 5'])(
  '%s is no time',
  async (typed) => {
    const { code, err, sent } = await listSince(typed);
    expect([code, sent, err]).toEqual([2, '', expect.stringContaining(`${typed} is no time; write 14:03`)]);
  },
);

test('times are shown in the zone of this machine, and say so; JSON has them as the service does', async () => {
  const { out } = await listSince('2026-01-01');
  expect(out).toContain(' 2025-12-31T19:00:00-05:00');
  const env = await startService({
    'GET /webhooks/deliveries': () => [200, { results: 1, data: [delivery] }],
  });
  expect((await run(['deliveries', 'list', '--json'], { ...env, TZ })).out).toContain(
    '"2026-01-01T00:00:00Z"',
  );
});

test('find says a time in the zone in which it shows it', async () => {
  const { deliveryId, createdAt: at } = delivery;
  const body = JSON.stringify({ amount: '1.00' });
  const env = await startService({
    'GET /webhooks': () => [200, { results: 0, data: [] }],
    'GET /webhooks/deliveries': () => [200, { results: 1, data: [delivery] }],
    [`GET /webhooks/deliveries/${deliveryId}`]: () => [
      ...([200, { ...delivery, attempts: [{ cycle: '0', attempt: 1, at, result: 'delivered' }] }] as const),
    ],
    'GET /notifications/evt_1': () => [200, { id: 'evt_1', eventType: 'PIX_OUT', receivedAt: at, body }],
  });
  const { out } = await run(['find', 'evt_1'], { ...env, TZ });
  expect(out).toMatch(/delivered to at Dec 31, 2025, 19:00:00 (EST|GMT-5), by attempt 1/);
  expect(out).toMatch(/createdAt +2025-12-31T19:00:00-05:00/);
});

test('the help says in which zone a time is read', async () => {
  const { out } = await runProcess(['payments', 'list', '--help'], { TZ: 'Asia/Tokyo' });
  expect(out.replaceAll(/\s+/g, ' ')).toContain('14:03 (today), 2026-11-21, 2026-11-21T14:03; of Asia/Tokyo');
});
