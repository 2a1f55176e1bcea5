import { eventually } from '@webhooks/testkit';
import type { Arrival } from '@webhooks/testkit';
import { post, Rig } from '../rig.js';

/** The timers of Node may end a millisecond early. */
const TIMER_MS = 5;

const rig = new Rig();
afterEach(() => rig.close());

describe('connections', () => {
  it('of one origin that are idle are closed by themselves, and their pool is dropped', async () => {
    const endpoint = await rig.endpoint({ keepAliveTimeoutMs: 60_000 });
    const sender = rig.sender(endpoint, { keepAliveMs: 1_200 });
    // One that names no time in a Keep-Alive header.
    endpoint.replyWith({ kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n' });
    await post(sender, endpoint.origin);
    expect(sender.stats()).toMatchObject({ pools: 1, connections: 1 });
    await eventually(() => sender.stats().connections === 0 && sender.stats().pools === 0);
  });

  it('that no attempt uses are closed when they stay idle', async () => {
    const endpoint = await rig.endpoint({ keepAliveTimeoutMs: 60_000 });
    endpoint.replyWith({ kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n' });
    const sender = rig.sender(endpoint, { keepAliveMs: 1_200 });
    await Promise.all(Array.from({ length: 8 }, () => post(sender, endpoint.origin)));
    await eventually(() => sender.stats().connections === 0);
  });

  it('are kept no longer than the bound when an endpoint asks for more', async () => {
    const endpoint = await rig.endpoint({ keepAliveTimeoutMs: 60_000 });
    const headers = { 'keep-alive': 'timeout=60' };
    endpoint.replyWith({ kind: 'status', status: 200, headers });
    const sender = rig.sender(endpoint, { keepAliveMs: 1_000, keepAliveMaxMs: 1_200 });
    await post(sender, endpoint.origin);
    expect(sender.stats().connections).toBe(1);
    await eventually(() => sender.stats().connections === 0);
  });

  it('that are idle are bounded over all origins: the one that is idle longest goes first', async () => {
    const endpoints = await Promise.all([1, 2, 3].map(() => rig.endpoint({ keepAliveTimeoutMs: 60_000 })));
    const [first, second, third] = endpoints;
    if (!first || !second || !third) throw new Error('expected three endpoints');
    const sender = rig.sender(first, { maxIdleConnections: 2 });
    for (const { origin } of [first, second, first, third]) await post(sender, origin);
    await eventually(() => second.stats().openConnections === 0);
    expect(sender.stats()).toMatchObject({ pools: 2, connections: 2 });
    for (const { origin } of [first, third]) await post(sender, origin);
    for (const kept of [first, third]) expect(kept.stats()).toMatchObject({ connections: 1 });
    expect(await post(sender, second.origin)).toMatchObject({ status: 200 });
  });

  it('that are idle are bounded, those in use are not', async () => {
    const all = Promise.withResolvers<number>();
    const reply = ({ index }: Arrival): Promise<number> => {
      if (index === 8) all.resolve(200);
      return all.promise;
    };
    const endpoint = await rig.endpoint({ reply, keepAliveTimeoutMs: 60_000 });
    const sender = rig.sender(endpoint, { maxIdleConnections: 1 });
    const results = await Promise.all(Array.from({ length: 8 }, () => post(sender, endpoint.origin)));
    for (const result of results) expect(result).toMatchObject({ status: 200, cut: false });
    await eventually(() => endpoint.stats().openConnections === 1);
    await post(sender, endpoint.origin);
    expect(endpoint.stats()).toMatchObject({ arrivals: 9, connections: 8 });
  });

  it('are replaced after a while, so that a moved name is noticed under constant traffic', async () => {
    const endpoint = await rig.endpoint();
    const maxConnectionAgeMs = 200;
    const sender = rig.sender(endpoint, { maxConnectionAgeMs });
    const began = performance.now();
    let lost = 0;
    await eventually(
      async () => {
        const result = await post(sender, endpoint.origin);
        if (result.kind !== 'responded') lost += 1;
        return endpoint.stats().connections >= 3;
      },
      { intervalMs: 0 },
    );
    expect(lost).toBe(0);
    expect(performance.now() - began).toBeGreaterThan(2 * maxConnectionAgeMs - TIMER_MS);
  });
});
