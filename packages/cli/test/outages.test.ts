// What a proxy in front of the service responds with, while a command waits.
import type { IncomingMessage } from 'node:http';
import { runProcess } from './support/run-webhooks.js';
import { page, startService } from './support/service.js';

const PROXY = [
  [404, '<h1>Not Found</h1>'],
  [302, '', 'https://login.example.com/'],
  [200, '<h1>Welcome</h1>'],
  [200, { maintenance: true }],
  [403, '<h1>Forbidden</h1>'],
  [401, { code: 'unauthorized' }],
  [502, '<h1>Bad Gateway</h1>'],
  [429, { code: 'too-many-requests' }],
] as const;
const refused = [403, { code: 'insufficient-scope', title: 'Refused', detail: 'no scope' }] as const;

const ID = '00000000-0000-4000-8000-000000000000';
const job = (state: string) => ({ id: ID, state, matched: 2, sent: 1, refused: 0, expired: 0 });
const cursorOf = ({ url = '' }: IncomingMessage): string =>
  new URLSearchParams(url.split('?')[1]).get('after') ?? '';

test('listen goes on after each response of a proxy, where it was, and says so once', async () => {
  const cursors: string[] = [];
  const env = await startService({
    'GET /notifications': (nth, request) => {
      cursors.push(cursorOf(request));
      return PROXY[nth - 2] ?? [200, page(`evt_${nth}`)];
    },
  });
  const { code, out, err } = await runProcess(['listen', '--count', '1'], env);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('PIX_OUT evt_10') as string });
  expect(new Set(cursors)).toEqual(new Set(['now', 'evt_1']));
  expect(err).toMatch(/^[\d:]{8}\S+ .*HTTP status 404; retrying, nothing is missed \(Ctrl-C ends\)\n$/);
}, 60_000);

test('redeliveries watch goes on after each response of a proxy', async () => {
  const env = await startService({
    [`GET /webhooks/redeliveries/${ID}`]: (nth) =>
      PROXY[nth - 2] ?? [200, job(nth === 1 ? 'running' : 'completed')],
  });
  const { code, out, err } = await runProcess(['redeliveries', 'watch', ID], env);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/state +completed/) as string });
  expect(err).toContain('HTTP status 404; retrying');
}, 60_000);

test.each([
  ['listen', ['listen'], 'GET /notifications', page('evt_1')],
  ['redeliveries watch', ['redeliveries', 'watch', ID], `GET /webhooks/redeliveries/${ID}`, job('running')],
] as const)('%s ends with 3 when the service itself refuses', async (_what, args, route, first) => {
  const env = await startService({ [route]: (nth) => (nth === 1 ? [200, first] : refused) });
  const { code, err } = await runProcess(args, env);
  expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining('Refused: no scope') as string });
});
