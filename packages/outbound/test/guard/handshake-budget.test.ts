import { eventually, startCostlyHost } from '@webhooks/testkit';
import type { Cost, CostlyHost } from '@webhooks/testkit';
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { createGuardedConnect } from '../../src/guard/guarded-connector.js';
import { HandshakeBudget, SecuredSocket } from '../../src/guard/handshake-budget.js';
import type { Sender, SendResult } from '../../src/index.js';
import { BODY, Rig } from '../rig.js';

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

const postFor = (tenantId: string, sender: Sender, origin: string, timeoutMs?: number): Promise<SendResult> =>
  sender.post({ tenantId, target: { origin, path: '/hook' }, headers: [], body: BODY, timeoutMs });

const GUARD = {
  refusalOf: () => undefined,
  resolve: () => Promise.reject(new Error('no name is asked for')),
  ticketBytes: 0,
  connectTimeoutMs: 20_000,
};

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

  it('is no response behind 700 key updates twice: its connection ends, and its tenant is costly', async () => {
    const isolated: string[] = [];
    const onIsolated = (tenantId: string): void => void isolated.push(tenantId);
    const sender = rig.sender(await rig.endpoint(), { onIsolated });
    const { origin, stats } = await startHost('answered-key-updates');
    expect(await postFor('acme', sender, origin)).toMatchObject({ status: 200 });
    expect(isolated).toEqual(['acme']);
    expect(await postFor('acme', sender, origin)).toMatchObject({ status: 200 });
    expect(stats().connections).toBe(2);
  });

  it('is no response in records of one byte', async () => {
    const sender = rig.sender(await rig.endpoint(), { attemptTimeoutMs: 20_000 });
    const { origin } = await startHost('tiny-records');
    const result = await postFor('acme', sender, origin);
    expect(result).toMatchObject({ kind: 'responded', status: 200, cut: true });
    expect(result.durationMs).toBeLessThan(10_000);
  });

  it('is forty long signatures once: then its tenant gets new connections on another thread, a tenth of the time', async () => {
    const keepAliveMs = 60_000;
    const [known, other] = await Promise.all([
      rig.endpoint({ keepAliveTimeoutMs: keepAliveMs }),
      rig.endpoint(),
    ]);
    const limits = { keepAliveMs, keepAliveMaxMs: keepAliveMs, connectTimeoutMs: 1_000 };
    const isolated: string[] = [];
    const onIsolated = (tenantId: string): void => void isolated.push(tenantId);
    const sender = rig.sender(known, { ...limits, onIsolated });
    expect(await postFor('acme', sender, known.origin)).toMatchObject({ status: 200 });
    const { origin } = await startHost('chain');
    // Refused, or still resting at its connect time-out.
    const post = async () =>
      expect(['unreachable', 'throttled']).toContain((await postFor('acme', sender, origin)).kind);
    await post();
    await eventually(() => expect(isolated).toEqual(['acme']));
    const before = process.threadCpuUsage();
    await post();
    expect(process.threadCpuUsage(before).user).toBeLessThan(200_000);
    // Both get no connection. A short attempt's own time-out may come first. A rest that was over is caused again, for an
    // endpoint without a connection.
    await eventually(
      async () => {
        const { origin: next } = await rig.endpoint();
        const short = await postFor('acme', sender, next, 300);
        const { kind } = await postFor('acme', sender, next);
        if (kind !== 'throttled') await post();
        return short.kind !== 'responded' && kind === 'throttled';
      },
      { timeoutMs: 20_000 },
    );
    expect(await postFor('acme', sender, known.origin)).toMatchObject({ status: 200 });
    expect(await postFor('globex', sender, other.origin)).toMatchObject({ status: 200 });
    expect(known.stats()).toMatchObject({ connections: 1, arrivals: 2 });
    await eventually(async () => (await postFor('acme', sender, other.origin)).kind === 'responded');
    // Nothing is cut off by the end, on the other thread neither.
    const last = postFor('acme', sender, other.origin);
    await sender.close();
    expect(['responded', 'throttled']).toContain((await last).kind);
  });

  it('is nothing when we computed ourselves', async () => {
    const budget = new HandshakeBudget(1);
    const tenant = budget.of('acme');
    const endpoint = await rig.endpoint();
    const guard = {
      ...GUARD,
      secureContext: createSecureContext({ ca: readFileSync(endpoint.caFile) }),
    };
    const ended = new AbortController();
    const connecting = createGuardedConnect(guard)(new URL(endpoint.origin), { session: undefined }, tenant);
    const opened = connecting.finally(() => ended.abort());
    while (!ended.signal.aborted) {
      for (let pieces = 0; pieces < 50; pieces += 1) {
        compute(2);
        budget.readCpu();
      }
      await nextTurn();
      // It would be 0.8 s for the whole turn.
      expect(tenant.pauseLeftMs).toBeLessThan(400);
    }
    (await opened).tls.destroy();
    budget.close();
  });
});

it('CPU time is shared by those whose handshakes read meanwhile, and by no others', async () => {
  const isolated: string[] = [];
  const budget = new HandshakeBudget(9, (tenantId) => void isolated.push(tenantId));
  const ended = Promise.withResolvers<undefined>();
  const open = (tenantId: string) => {
    const tcp = { bytesRead: 0 };
    const tls = Object.assign(new EventEmitter(), { bytesRead: 0, destroy: () => undefined });
    const sockets = [tcp as Socket, tls as unknown as TLSSocket] as const;
    const measured = budget.measure(
      new SecuredSocket(...sockets, budget.of(tenantId), 65_536),
      ended.promise,
    );
    return { tcp, measured };
  };
  // So many that a machine which stands still in a turn makes none of them costly.
  const all = Array.from({ length: 30 }, (_, n) => open(`tenant-${n}`));
  const takeTurn = async (readers: typeof all): Promise<void> => {
    for (const { tcp } of readers) tcp.bytesRead += 1;
    compute(100);
    // Timers lie between them.
    await nextTurn();
    await nextTurn();
  };
  await nextTurn();
  await takeTurn(all);
  expect(isolated).toEqual([]);
  await takeTurn(all.slice(0, 1));
  expect(isolated).toEqual(['tenant-0']);
  ended.resolve(undefined);
  for (const { measured } of all) await measured;
  budget.close();
});

it('a pause for a flood does not end a longer one', () => {
  const budget = new HandshakeBudget(1);
  const tenant = budget.of('acme');
  tenant.pause(400);
  const { pauseLeftMs } = tenant;
  tenant.pause(100);
  expect(tenant.pauseLeftMs).toBeGreaterThan(pauseLeftMs / 2);
  budget.close();
});

it('a tenant’s handshakes with other endpoints continue while one endpoint sends nothing', async () => {
  const [silent, good] = await Promise.all([rig.endpoint({ connection: 'hang' }), rig.endpoint()]);
  const sender = rig.sender(good);
  const hanging = Promise.all([1, 2, 3].map(() => postFor('acme', sender, silent.origin)));
  await eventually(() => silent.stats().connections === 3);
  const posted = await Promise.all([1, 2, 3, 4].map(() => postFor('acme', sender, good.origin)));
  for (const result of posted) expect(result).toMatchObject({ status: 200 });
  for (const result of await hanging) expect(result).toMatchObject({ code: 'CONNECT_TIMEOUT' });
});
