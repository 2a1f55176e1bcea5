import { eventually, sharedAuthority } from '@webhooks/testkit';
import type { EndpointOptions } from '@webhooks/testkit';
import { randomBytes } from 'node:crypto';
import type { Sender } from '../src/index.js';
import { post, Rig } from './rig.js';

const rig = new Rig();
afterEach(() => rig.close());

const oneShot = { kind: 'status', status: 200, headers: { connection: 'close' } } as const;

const versions = ['TLSv1.2', 'TLSv1.3'] as const;
const speaking = (version: (typeof versions)[number]) => ({ minVersion: version, maxVersion: version });

async function postTimes(count: number, sender: Sender, origin: string): Promise<unknown[]> {
  const results: unknown[] = [];
  for (let i = 0; i < count; i += 1) results.push(await post(sender, origin));
  return results;
}

describe('a TLS session', () => {
  it.each(versions)('of %s is resumed by the next connection to the same origin', async (version) => {
    const endpoint = await rig.endpoint({ reply: oneShot, tls: speaking(version) });
    const sender = rig.sender(endpoint);
    for (const result of await postTimes(4, sender, endpoint.origin)) {
      expect(result).toMatchObject({ status: 200 });
    }
    // A busy machine may take the tenant for costly: then a connection is opened once more, on the other thread.
    expect(endpoint.stats()).toMatchObject({ arrivals: 4, resumed: 3 });
  });

  it.each(versions)('of %s is never kept of a connection whose certificate was refused', async (version) => {
    const authority = await sharedAuthority();
    const leaf = await authority.issue(['hook.acme.com.br']);
    const endpoint = await rig.endpoint({ ...leaf, tls: speaking(version) });
    const sender = rig.sender(endpoint, { extraCaFile: authority.caFile });
    for (const result of await postTimes(4, sender, endpoint.origin)) {
      expect(result).toMatchObject({ error: 'TLS', code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    }
    expect(endpoint.stats()).toMatchObject({ arrivals: 0, resumed: 0 });
  });

  it('is not used for another origin', async () => {
    const tls = { ticketKeys: randomBytes(48) };
    const [first, second] = await Promise.all([rig.endpoint({ tls }), rig.endpoint({ tls })]);
    const sender = rig.sender(first);
    for (const { origin } of [first, second]) await post(sender, origin);
    expect(second.stats()).toMatchObject({ arrivals: 1, resumed: 0 });
  });

  it('is not offered again after a handshake that failed', async () => {
    const tls: EndpointOptions['tls'] = { ticketKeys: randomBytes(48) };
    const strange = await (await sharedAuthority()).issue(['hook.acme.com.br']);
    const first = await rig.endpoint({ reply: oneShot, tls });
    const sender = rig.sender(first);
    expect(await post(sender, first.origin)).toMatchObject({ status: 200 });
    await first.close();
    const second = await rig.endpoint({ ...strange, port: first.port });
    expect(await post(sender, first.origin)).toMatchObject({ error: 'TLS' });
    await second.close();
    const third = await rig.endpoint({ reply: oneShot, tls, port: first.port });
    expect(await post(sender, first.origin)).toMatchObject({ status: 200 });
    expect(third.stats()).toMatchObject({ arrivals: 1, resumed: 0 });
  });

  it('is kept while the endpoint cannot be reached', async () => {
    const tls: EndpointOptions['tls'] = { ticketKeys: randomBytes(48) };
    const first = await rig.endpoint({ reply: oneShot, tls });
    const sender = rig.sender(first);
    expect(await post(sender, first.origin)).toMatchObject({ status: 200 });
    await first.close();
    expect(await post(sender, first.origin)).toMatchObject({ error: 'CONNECT', code: 'ECONNREFUSED' });
    const second = await rig.endpoint({ reply: oneShot, tls, port: first.port });
    expect(await post(sender, first.origin)).toMatchObject({ status: 200 });
    expect(second.stats()).toMatchObject({ arrivals: 1, resumed: 1 });
  });

  it.each(versions)('of %s is kept of a connection to the second address of a name', async (version) => {
    const authority = await sharedAuthority();
    const leaf = await authority.issue(['hook.acme.com.br']);
    const endpoint = await rig.endpoint({ ...leaf, reply: oneShot, tls: speaking(version) });
    const resolve = (): Promise<string[]> => Promise.resolve(['127.0.0.9', '127.0.0.1']);
    const sender = rig.sender(endpoint, { extraCaFile: authority.caFile, resolve });
    const origin = `https://hook.acme.com.br:${endpoint.port}`;
    for (const result of await postTimes(3, sender, origin)) expect(result).toMatchObject({ status: 200 });
    expect(endpoint.stats()).toMatchObject({ connections: 3, resumed: 2 });
  });

  it('ends with its time, so that a certificate that became wrong is noticed', async () => {
    const authority = await sharedAuthority();
    const tls: EndpointOptions['tls'] = { ticketKeys: randomBytes(48) };
    const first = await rig.endpoint({ reply: oneShot, tls });
    const sender = rig.sender(first, { maxConnectionAgeMs: 400 });
    expect(await post(sender, first.origin)).toMatchObject({ status: 200 });
    await first.close();
    await rig.endpoint({ ...(await authority.issue(['hook.acme.com.br'])), tls, port: first.port });
    await eventually(async () => {
      expect(await post(sender, first.origin)).toMatchObject({ error: 'TLS' });
    });
    expect(await post(sender, first.origin)).toMatchObject({ error: 'TLS' });
  });
});
