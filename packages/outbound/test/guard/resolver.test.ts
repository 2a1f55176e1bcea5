import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createResolver, createSender } from '../../src/index.js';
import { sharedAuthority, startNameServer } from '@webhooks/testkit';
import type { NameReply, NameServer } from '@webhooks/testkit';
import { BODY, post as postTo, Rig } from '../rig.js';

const open: NameServer[] = [];
async function nameServer(answer: (name: string, type: 'A' | 'AAAA') => NameReply): Promise<NameServer> {
  const server = await startNameServer(answer);
  open.push(server);
  return server;
}
afterEach(() => {
  for (const { socket } of open.splice(0)) socket.close();
});

const folder = mkdtempSync(join(tmpdir(), 'resolv-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
/** A resolv.conf that names these servers. */
function named(...servers: readonly NameServer[]): string {
  const file = join(folder, String((files += 1)));
  writeFileSync(file, servers.map(({ address }) => `nameserver ${address}\n`).join(''));
  return file;
}

const V6 = '2804:14d:0:0:0:0:0:1';
const none: NameReply = { rcode: 'ok' };

describe('createResolver', () => {
  it('gives the addresses of both families, and queries the absolute name only', async () => {
    const server = await nameServer((_, type) => ({
      rcode: 'ok',
      addresses: [type === 'A' ? '200.147.3.1' : V6],
    }));
    const resolve = createResolver({ file: named(server) });
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.1', '2804:14d::1']);
    expect(new Set(server.asked)).toEqual(new Set(['hook.acme.com.br']));
  });

  it('gives the addresses of one family when the other has none', async () => {
    const server = await nameServer((_, type) =>
      type === 'A' ? { rcode: 'ok', addresses: ['200.147.3.1'] } : none,
    );
    expect(await createResolver({ file: named(server) })('hook.acme.com.br')).toEqual(['200.147.3.1']);
  });

  it('does not wait long for the other family', async () => {
    const server = await nameServer((_, type) =>
      type === 'A' ? { rcode: 'ok', addresses: ['200.147.3.1'] } : 'silence',
    );
    const before = performance.now();
    expect(await createResolver({ file: named(server) })('hook.acme.com.br')).toEqual(['200.147.3.1']);
    expect(performance.now() - before).toBeLessThan(700);
  });

  it('sends one query for all simultaneous callers, and a new one for later callers', async () => {
    let last = 0;
    const server = await nameServer((_, type) =>
      type === 'A' ? { rcode: 'ok', addresses: [`200.147.3.${(last += 1)}`] } : none,
    );
    const resolve = createResolver({ file: named(server) });
    const answers = await Promise.all(Array.from({ length: 500 }, () => resolve('hook.acme.com.br')));
    expect(new Set(answers.map(String))).toEqual(new Set(['200.147.3.1']));
    expect(server.asked).toHaveLength(2);
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.2']);
  });

  it('keeps no answer, whatever time to live it has', async () => {
    let last = 0;
    const server = await nameServer((_, type) =>
      type === 'A' ? { rcode: 'ok', addresses: [`200.147.3.${(last += 1)}`], ttlSeconds: 200 } : none,
    );
    const resolve = createResolver({ file: named(server) });
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.1']);
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.2']);
  });

  it('keeps no failure, so that a name that returns is found by the next query', async () => {
    const replies: NameReply[] = [{ rcode: 'servfail' }, { rcode: 'ok', addresses: ['200.147.3.1'] }];
    const server = await nameServer((_, type) => (type === 'A' ? (replies.shift() ?? none) : none));
    const resolve = createResolver({ file: named(server), timeoutMs: 5_000, tries: 1 });
    await expect(resolve('hook.acme.com.br')).rejects.toMatchObject({ reasonCode: 'ESERVFAIL' });
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.1']);
  });

  it('follows an alias to its address, which is judged', async () => {
    const alias = 'x.internal';
    const server = await nameServer((_, type) =>
      type === 'A' ? { rcode: 'ok', addresses: ['10.0.0.7'], alias } : none,
    );
    const resolve = createResolver({ file: named(server) });
    expect(await resolve('hook.acme.com.br')).toEqual(['10.0.0.7']);
    const sender = createSender({ resolve });
    const target = { origin: 'https://hook.acme.com.br', path: '/' };
    expect(await sender.post({ tenantId: 'acme', target, headers: [], body: BODY })).toMatchObject({
      kind: 'forbidden',
    });
    await sender.close();
  });

  it('looks into no hosts file', async () => {
    const server = await nameServer(() => ({ rcode: 'nxdomain' }));
    const resolve = createResolver({ file: named(server) });
    await expect(resolve('localhost')).rejects.toMatchObject({ errorClass: 'DNS' });
    await expect(resolve('ip6-localhost')).rejects.toMatchObject({ errorClass: 'DNS' });
  });

  it('queries the next server when one does not answer', async () => {
    const silent = await nameServer(() => 'silence');
    const server = await nameServer((_, type) =>
      type === 'A' ? { rcode: 'ok', addresses: ['200.147.3.1'] } : none,
    );
    const resolve = createResolver({ file: named(silent, server), timeoutMs: 100 });
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.1']);
  });

  it.each<[string, NameReply, RegExp]>([
    ['an unknown name', { rcode: 'nxdomain' }, /ENOTFOUND/],
    ['a failing server', { rcode: 'servfail' }, /ESERVFAIL/],
    ['a name without addresses', none, /ENODATA/],
    ['a server that answers no query', 'silence', /NAME_SERVERS_UNREACHABLE/],
  ])('says DNS for %s', async (_, reply, code) => {
    const server = await nameServer(() => reply);
    const resolve = createResolver({ file: named(server), timeoutMs: 2_000, tries: 1 });
    await expect(resolve('hook.acme.com.br')).rejects.toMatchObject({
      errorClass: 'DNS',
      reasonCode: expect.stringMatching(code) as string,
    });
  });

  it('queries the new servers when the file names others, and the old ones while it is missing', async () => {
    const addresses = (address: string) => (): NameReply => ({ rcode: 'ok', addresses: [address] });
    const old = await nameServer((_, type) => (type === 'A' ? addresses('200.147.3.1')() : none));
    const next = await nameServer((_, type) => (type === 'A' ? addresses('200.147.3.2')() : none));
    const file = named(old);
    const resolve = createResolver({ file });
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.1']);
    rmSync(file);
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.1']);
    renameSync(named(next), file);
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.2']);
  });

  it('queries the old servers while the file cannot be used, and reads it again', async () => {
    const replyWith =
      (address: string) =>
      (_: string, type: 'A' | 'AAAA'): NameReply =>
        type === 'A' ? { rcode: 'ok', addresses: [address] } : none;
    const file = named(await nameServer(replyWith('200.147.3.1')));
    const next = named(await nameServer(replyWith('200.147.3.2')));
    const resolve = createResolver({ file });
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.1']);
    writeFileSync(file, 'nameserver ns1.acme.com.br\n');
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.1']);
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.1']);
    // A folder cannot be read as a file. The file in its place has the same time.
    rmSync(file);
    mkdirSync(file);
    for (const path of [file, next]) utimesSync(path, 1_000, 1_000);
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.1']);
    rmSync(file, { recursive: true });
    writeFileSync(next, `nameserver ns1.acme.com.br\n${readFileSync(next, 'utf8').trim()} # vpc\n`);
    utimesSync(next, 1_000, 1_000);
    renameSync(next, file);
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.2']);
  });

  it('queries the root from the servers of the query, whatever the file says by then', async () => {
    const file = named(await nameServer(() => 'silence'));
    const query = createResolver({ file, timeoutMs: 100 })('hook.acme.com.br');
    writeFileSync(file, 'nameserver ns1.acme.com.br\n');
    await expect(query).rejects.toMatchObject({ reasonCode: 'NAME_SERVERS_UNREACHABLE' });
  });

  it('makes an attempt our own fault while no name server answers', async () => {
    const server = await nameServer(() => 'silence');
    const sender = createSender({ resolve: createResolver({ file: named(server), timeoutMs: 100 }) });
    const target = { origin: 'https://hook.acme.com.br', path: '/' };
    const post = sender.post({ tenantId: 'acme', target, headers: [], body: BODY });
    await expect(post).rejects.toMatchObject({ reasonCode: 'NAME_SERVERS_UNREACHABLE' });
    await sender.close();
  });

  it('lets other names be resolved while one is slow, and makes an attempt fail with class DNS', async () => {
    const server = await nameServer((name) => (name.startsWith('slow') ? 'silence' : { rcode: 'nxdomain' }));
    const resolve = createResolver({ file: named(server), timeoutMs: 1_000, tries: 1 });
    const sender = createSender({ resolve });
    const post = (host: string) =>
      sender.post({
        tenantId: 'acme',
        target: { origin: `https://${host}`, path: '/' },
        headers: [],
        body: BODY,
      });
    const slow = Array.from({ length: 20 }, (_, i) => post(`slow${i}.acme.com.br`));
    const quick = await post('gone.acme.com.br');
    expect(quick).toMatchObject({ kind: 'unreachable', error: 'DNS', code: 'ENOTFOUND' });
    expect(quick.durationMs).toBeLessThan(900);
    for (const result of await Promise.all(slow))
      expect(result).toMatchObject({ error: 'DNS', code: 'ETIMEOUT' });
    await sender.close();
  });

  it('fails only the handshakes that shared a failed query, not all waiting attempts', async () => {
    let asked = 0;
    const server = await nameServer((_, type) => {
      if (type !== 'A') return none;
      asked += 1;
      return asked === 1 ? { rcode: 'servfail' } : { rcode: 'ok', addresses: ['127.0.0.1'] };
    });
    const rig = new Rig();
    const authority = await sharedAuthority();
    const endpoint = await rig.endpoint(await authority.issue(['hook.acme.com.br']));
    const sender = rig.sender(endpoint, {
      extraCaFile: authority.caFile,
      // A slow machine isolates this tenant, so the second thread has to query this server, too.
      resolver: { file: named(server), timeoutMs: 5_000, tries: 1 },
    });
    const origin = `https://hook.acme.com.br:${endpoint.port}`;
    const results = await Promise.all(Array.from({ length: 64 }, () => postTo(sender, origin)));
    const failed = results.filter(({ kind }) => kind === 'unreachable');
    expect(failed).toHaveLength(8);
    for (const result of failed) expect(result).toMatchObject({ error: 'DNS', code: 'ESERVFAIL' });
    await rig.close();
  });
});
