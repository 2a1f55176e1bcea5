import { eventually, startCostlyHost } from '@webhooks/testkit';
import type { Cost, CostlyHost } from '@webhooks/testkit';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Sender, SendResult } from '../src/index.js';
import { BODY, Rig } from './rig.js';

const rig = new Rig();
const hosts: CostlyHost[] = [];
afterEach(async () => {
  await rig.close();
  for (const host of hosts.splice(0)) await host.close();
});

async function startHost(cost: Cost): Promise<CostlyHost> {
  const host = await startCostlyHost(cost);
  hosts.push(host);
  return host;
}

const postFor = (
  tenantId: string,
  sender: Sender,
  origin: string,
  mayStart = (): boolean => true,
): Promise<SendResult> =>
  sender.post({ tenantId, target: { origin, path: '/hook' }, headers: [], body: BODY, mayStart });

/** Takes so much CPU time of our thread, in one turn of the event loop. */
function compute(ms: number): void {
  const before = process.threadCpuUsage();
  while (process.threadCpuUsage(before).user < 1_000 * ms);
}

describe('what an endpoint makes our thread compute', () => {
  it('is no Diffie-Hellman exchange with a prime of its choice', async () => {
    const sender = rig.sender(await rig.endpoint());
    const { origin } = await startHost('dhe');
    expect(await postFor('acme', sender, origin)).toMatchObject({
      ...{ kind: 'unreachable', error: 'TLS' },
      code: expect.stringMatching(/HANDSHAKE_FAILURE$/) as string,
    });
  });

  it.each(['tickets', 'key-updates'] as const)('is no flood of %s', async (cost) => {
    const sender = rig.sender(await rig.endpoint(), { attemptTimeoutMs: 20_000 });
    const { origin, stats } = await startHost(cost);
    expect(await postFor('acme', sender, origin)).toMatchObject({ error: 'PROTOCOL', code: 'TLS_FLOOD' });
    expect(stats().connections).toBe(1);
  });

  it('is no response in records of one byte', async () => {
    const sender = rig.sender(await rig.endpoint(), { attemptTimeoutMs: 20_000 });
    const { origin } = await startHost('tiny-records');
    const result = await postFor('acme', sender, origin);
    expect(result).toMatchObject({ kind: 'answered', status: 200, cut: true });
    expect(result.durationMs).toBeLessThan(10_000);
  });

  it('is forty long signatures three times in a minute: then its tenant gets no new connection', async () => {
    const paused: string[] = [];
    const onPause = (tenantId: string): void => void paused.push(tenantId);
    const keepAliveMs = 60_000;
    const [known, other] = await Promise.all([
      rig.endpoint({ keepAliveTimeoutMs: keepAliveMs }),
      rig.endpoint(),
    ]);
    const sender = rig.sender(known, { onPause, keepAliveMs, keepAliveMaxMs: keepAliveMs });
    expect(await postFor('acme', sender, known.origin)).toMatchObject({ status: 200 });
    const { origin } = await startHost('chain');
    for (let posts = 0; posts < 3; posts += 1)
      expect(await postFor('acme', sender, origin)).toMatchObject({ kind: 'unreachable', error: 'TLS' });
    await eventually(() => paused.length === 1);
    expect(paused).toEqual(['acme']);
    expect(await postFor('acme', sender, origin)).toMatchObject({ kind: 'throttled' });
    expect(await postFor('acme', sender, other.origin)).toMatchObject({ kind: 'throttled' });
    expect(await postFor('acme', sender, known.origin)).toMatchObject({ status: 200 });
    expect(await postFor('globex', sender, other.origin)).toMatchObject({ status: 200 });
    expect(known.stats()).toMatchObject({ connections: 1, arrivals: 2 });
  });

  it('is once a second for one tenant at most', async () => {
    const sender = rig.sender(await rig.endpoint());
    const { origin } = await startHost('chain');
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    const endedIn = await Promise.all(
      [1, 2].map(async () => {
        await postFor('acme', sender, origin);
        return turns;
      }),
    );
    clearInterval(timer);
    // There would be one without the rest of a second.
    expect(Math.max(...endedIn) - Math.min(...endedIn)).toBeGreaterThan(5);
  });

  it('is nothing when we computed ourselves', async () => {
    const paused: string[] = [];
    const onPause = (tenantId: string): void => void paused.push(tenantId);
    const known = await rig.endpoint();
    const sender = rig.sender(known, { onPause, connectTimeoutMs: 20_000, attemptTimeoutMs: 20_000 });
    expect(await postFor('globex', sender, known.origin)).toMatchObject({ status: 200 });
    const computeAndWithdraw = (): boolean => {
      compute(20);
      return false;
    };
    for (const { origin } of await Promise.all([1, 2, 3].map(() => rig.endpoint()))) {
      const posted = postFor('acme', sender, origin);
      while (sender.stats().inFlight > 0) {
        // In one turn of the event loop.
        for (let attempts = 0; attempts < 4; attempts += 1)
          await postFor('globex', sender, known.origin, computeAndWithdraw);
        await nextTurn();
      }
      expect(await posted).toMatchObject({ status: 200 });
    }
    expect(paused).toEqual([]);
  });
});

it('of a tenant with a silent endpoint, handshakes with others go on', async () => {
  const [silent, good] = await Promise.all([rig.endpoint({ connection: 'hang' }), rig.endpoint()]);
  const sender = rig.sender(good);
  const hanging = Promise.all([1, 2, 3].map(() => postFor('acme', sender, silent.origin)));
  await eventually(() => silent.stats().connections === 3);
  const posted = await Promise.all([1, 2, 3, 4].map(() => postFor('acme', sender, good.origin)));
  for (const result of posted) expect(result).toMatchObject({ status: 200 });
  for (const result of await hanging) expect(result).toMatchObject({ code: 'CONNECT_TIMEOUT' });
});
