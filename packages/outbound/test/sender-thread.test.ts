import { eventually, sharedAuthority } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import type { PlainOptions } from '../src/index.js';
import { SenderThread } from '../src/sender-thread.js';
import { issueClient, serialOf } from './client-certificates.js';
import { openDemanding } from './demanding.js';
import { BODY, Rig } from './rig.js';

const rig = new Rig();
const threads: SenderThread[] = [];
afterEach(async () => {
  for (const thread of threads.splice(0)) await thread.close();
  await rig.close();
});

function start(
  { caFile: extraCaFile }: Pick<Endpoint, 'caFile'>,
  more: PlainOptions = {},
  stalledMs?: number,
): SenderThread {
  const thread = new SenderThread({ addresses: { allowLoopback: true }, extraCaFile, ...more }, stalledMs);
  threads.push(thread);
  return thread;
}

const requestTo = ({ origin }: Pick<Endpoint, 'origin'>, body = BODY) => ({
  ...{ tenantId: 'acme', target: { origin, path: '/hook' } },
  headers: ['webhook-id', 'evt_1'],
  body,
});

it('posts as a sender does, and leaves the body to others', async () => {
  const endpoint = await rig.endpoint();
  const thread = start(endpoint);
  const whole = Buffer.concat([Buffer.from('no part of it'), BODY]);
  const body = whole.subarray(-BODY.length);
  const request = { ...requestTo(endpoint, body), keptHeader: 'x-none' };
  expect(await thread.post({ ...request, mayStart: () => false }, 1_000)).toMatchObject({
    kind: 'withdrawn',
  });
  expect(await thread.post(request, 10_000)).toMatchObject({ kind: 'responded', status: 200 });
  expect(endpoint.arrivals).toMatchObject([{ path: '/hook', headers: { 'webhook-id': 'evt_1' } }]);
  expect(endpoint.arrivals.map((arrival) => String(arrival.body))).toEqual([String(BODY)]);
  expect(String(whole)).toBe(`no part of it${String(BODY)}`);
  await expect(thread.post({ ...request, headers: ['a b', '1'] }, 1_000)).rejects.toThrow(/header/);
});

it('rejects pending posts when it ends, and starts again with the next post', async () => {
  const endpoint = await rig.endpoint({ connection: 'hang' });
  const good = await rig.endpoint();
  const thread = start(good);
  const lost = expect(thread.post(requestTo(endpoint), 10_000)).rejects.toThrow('ended');
  await eventually(() => endpoint.stats().connections === 1);
  await thread.close();
  await lost;
  expect(await thread.post(requestTo(good), 10_000)).toMatchObject({ status: 200 });
});

it('ends a thread that has stalled', async () => {
  const endpoint = await rig.endpoint();
  // It does not begin within 2 ms.
  const thread = start(endpoint, {}, 1);
  const [late, waiting] = [1, 10_000].map((timeoutMs) => thread.post(requestTo(endpoint), timeoutMs));
  await expect(late).rejects.toThrow('stalled');
  await expect(waiting).rejects.toThrow('stalled');
  expect(await thread.post(requestTo(endpoint), 10_000)).toMatchObject({ status: 200 });
});

it('presents a renewed certificate', async () => {
  const demanding = await openDemanding('TLSv1.3', 'once');
  const [before, after] = [await issueClient(), await issueClient()];
  const thread = start(await sharedAuthority(), { clientCertificate: before });
  await thread.post(requestTo(demanding), 10_000);
  thread.present(after);
  await thread.post(requestTo(demanding), 10_000);
  expect(demanding.seen.map(({ serial }) => serial)).toEqual([before, after].map(serialOf));
  await demanding.close();
});
