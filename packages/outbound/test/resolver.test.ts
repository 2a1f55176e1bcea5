import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { createResolver, createSender } from '../src/index.js';
import { sharedAuthority } from '@webhooks/testkit';
import { BODY, post as postTo, Rig } from './rig.js';

const RCODE = { ok: 0, servfail: 2, nxdomain: 3 } as const;
const TYPE_A = 1;
const TYPE_CNAME = 5;

type Reply =
  { rcode: keyof typeof RCODE; addresses?: string[]; ttlSeconds?: number; alias?: string } | 'silence';

/** A real DNS server on loopback that answers by name and type. */
async function startNameServer(answer: (name: string, type: 'A' | 'AAAA') => Reply): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (question, peer) => {
    const { name, type, end } = readQuestion(question);
    asked.push(name);
    const reply = answer(name, type === TYPE_A ? 'A' : 'AAAA');
    if (reply !== 'silence')
      socket.send(writeReply(question.subarray(0, end), reply, type), peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { socket, asked, address: `127.0.0.1:${socket.address().port}` };
}

interface NameServer {
  readonly socket: Socket;
  readonly asked: string[];
  readonly address: string;
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function writeReply(question: Buffer, reply: Exclude<Reply, 'silence'>, type: number): Buffer {
  const records = (reply.addresses ?? []).map((address) => {
    const data =
      type === TYPE_A
        ? Buffer.from(address.split('.').map(Number))
        : Buffer.from(
            address
              .split(':')
              .map((group) => group.padStart(4, '0'))
              .join(''),
            'hex',
          );
    // Behind an alias the address belongs to the alias's name, which stands in the record before it.
    const owner = reply.alias === undefined ? [0xc0, 0x0c] : [0xc0, question.length + 12];
    const head = Buffer.from([...owner, 0, type, 0, 1, 0, 0, 0, reply.ttlSeconds ?? 0, 0, data.length]);
    return Buffer.concat([head, data]);
  });
  if (reply.alias !== undefined) {
    const name = Buffer.concat([
      ...reply.alias.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
      Buffer.from([0]),
    ]);
    records.unshift(Buffer.from([0xc0, 0x0c, 0, TYPE_CNAME, 0, 1, 0, 0, 0, 0, 0, name.length, ...name]));
  }
  const header = Buffer.from(question.subarray(0, 12));
  header.writeUInt16BE(0x8180 | RCODE[reply.rcode], 2);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt16BE(0, 8);
  header.writeUInt16BE(0, 10);
  return Buffer.concat([header, question.subarray(12), ...records]);
}

const open: NameServer[] = [];
async function nameServer(answer: (name: string, type: 'A' | 'AAAA') => Reply): Promise<NameServer> {
  const server = await startNameServer(answer);
  open.push(server);
  return server;
}
afterEach(() => {
  for (const { socket } of open.splice(0)) socket.close();
});

const V6 = '2804:14d:0:0:0:0:0:1';
const none: Reply = { rcode: 'ok' };

describe('createResolver', () => {
  it('gives the addresses of both families, and asks for the absolute name alone', async () => {
    const server = await nameServer((_, type) => ({
      rcode: 'ok',
      addresses: [type === 'A' ? '200.147.3.1' : V6],
    }));
    const resolve = createResolver({ servers: [server.address] });
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.1', '2804:14d::1']);
    expect(new Set(server.asked)).toEqual(new Set(['hook.acme.com.br']));
  });

  it('is content with one family', async () => {
    const server = await nameServer((_, type) =>
      type === 'A' ? { rcode: 'ok', addresses: ['200.147.3.1'] } : none,
    );
    expect(await createResolver({ servers: [server.address] })('hook.acme.com.br')).toEqual(['200.147.3.1']);
  });

  it('does not wait long for the other family', async () => {
    const server = await nameServer((_, type) =>
      type === 'A' ? { rcode: 'ok', addresses: ['200.147.3.1'] } : 'silence',
    );
    const before = performance.now();
    expect(await createResolver({ servers: [server.address] })('hook.acme.com.br')).toEqual(['200.147.3.1']);
    expect(performance.now() - before).toBeLessThan(700);
  });

  it('asks once for all who ask at the same time, and anew for whoever asks later', async () => {
    let last = 0;
    const server = await nameServer((_, type) =>
      type === 'A' ? { rcode: 'ok', addresses: [`200.147.3.${(last += 1)}`] } : none,
    );
    const resolve = createResolver({ servers: [server.address] });
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
    const resolve = createResolver({ servers: [server.address] });
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.1']);
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.2']);
  });

  it('keeps no failure: a name that flaps is there again with the next question', async () => {
    const replies: Reply[] = [{ rcode: 'servfail' }, { rcode: 'ok', addresses: ['200.147.3.1'] }];
    const server = await nameServer((_, type) => (type === 'A' ? (replies.shift() ?? none) : none));
    const resolve = createResolver({ servers: [server.address], tries: 1 });
    await expect(resolve('hook.acme.com.br')).rejects.toMatchObject({ reasonCode: 'ESERVFAIL' });
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.1']);
  });

  it('follows an alias to its address, which is what is judged', async () => {
    const alias = 'x.internal';
    const server = await nameServer((_, type) =>
      type === 'A' ? { rcode: 'ok', addresses: ['10.0.0.7'], alias } : none,
    );
    const resolve = createResolver({ servers: [server.address] });
    expect(await resolve('hook.acme.com.br')).toEqual(['10.0.0.7']);
    const sender = createSender({ resolve });
    const target = { origin: 'https://hook.acme.com.br', path: '/' };
    expect(await sender.post({ target, headers: [], body: BODY })).toMatchObject({ kind: 'forbidden' });
    await sender.close();
  });

  it('looks into no hosts file', async () => {
    const server = await nameServer(() => ({ rcode: 'nxdomain' }));
    const resolve = createResolver({ servers: [server.address] });
    await expect(resolve('localhost')).rejects.toMatchObject({ errorClass: 'DNS' });
    await expect(resolve('ip6-localhost')).rejects.toMatchObject({ errorClass: 'DNS' });
  });

  it('asks the next server when one is silent', async () => {
    const silent = await nameServer(() => 'silence');
    const server = await nameServer((_, type) =>
      type === 'A' ? { rcode: 'ok', addresses: ['200.147.3.1'] } : none,
    );
    const resolve = createResolver({ servers: [silent.address, server.address], timeoutMs: 100 });
    expect(await resolve('hook.acme.com.br')).toEqual(['200.147.3.1']);
  });

  it.each<[string, Reply, RegExp]>([
    ['an unknown name', { rcode: 'nxdomain' }, /ENOTFOUND/],
    ['a failing server', { rcode: 'servfail' }, /ESERVFAIL/],
    ['a name without addresses', none, /ENODATA/],
    ['a silent server', 'silence', /ETIMEOUT/],
  ])('says DNS for %s', async (_, reply, code) => {
    const server = await nameServer(() => reply);
    const resolve = createResolver({ servers: [server.address], timeoutMs: 100, tries: 1 });
    await expect(resolve('hook.acme.com.br')).rejects.toMatchObject({
      errorClass: 'DNS',
      reasonCode: expect.stringMatching(code) as string,
    });
  });

  it('lets other names be resolved while one is slow, and makes an attempt fail with class DNS', async () => {
    const server = await nameServer((name) => (name.startsWith('slow') ? 'silence' : { rcode: 'nxdomain' }));
    const resolve = createResolver({ servers: [server.address], timeoutMs: 500, tries: 1 });
    const sender = createSender({ resolve });
    const post = (host: string) =>
      sender.post({ target: { origin: `https://${host}`, path: '/' }, headers: [], body: BODY });
    const slow = Array.from({ length: 20 }, (_, i) => post(`slow${i}.acme.com.br`));
    const quick = await post('gone.acme.com.br');
    expect(quick).toMatchObject({ kind: 'unreachable', error: 'DNS', code: 'ENOTFOUND' });
    expect(quick.durationMs).toBeLessThan(400);
    for (const result of await Promise.all(slow))
      expect(result).toMatchObject({ error: 'DNS', code: 'ETIMEOUT' });
    await sender.close();
  });

  it('that failed once costs the handshakes that shared the question, not all who wait', async () => {
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
      resolve: createResolver({ servers: [server.address], tries: 1 }),
    });
    const origin = `https://hook.acme.com.br:${endpoint.port}`;
    const results = await Promise.all(Array.from({ length: 64 }, () => postTo(sender, origin)));
    const failed = results.filter(({ kind }) => kind === 'unreachable');
    expect(failed).toHaveLength(8);
    for (const result of failed) expect(result).toMatchObject({ error: 'DNS', code: 'ESERVFAIL' });
    await rig.close();
  });
});
