import { eventually, sharedAuthority } from '@webhooks/testkit';
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import {
  checkClientCertificate,
  createSender,
  readClientCertificate,
  toEndpointCertificate,
} from '../../src/index.js';
import type { ClientPair } from '@webhooks/contracts';
import type { ClientCertificate, Sender, SendResult } from '../../src/index.js';
import { openDemanding } from '../demanding.js';
import type { Seen } from '../demanding.js';
import { inDays, issueClient, issueExpired, selfSigned, serialOf } from '../client-certificates.js';
import { longFactors, pemBlock, slowKey } from '../slow-key.js';
import { BODY, post, postTimes } from '../rig.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const versions = ['TLSv1.2', 'TLSv1.3'] as const;

async function startDemanding(...how: Parameters<typeof openDemanding>) {
  const demanding = await openDemanding(...how);
  closing.push(demanding.close);
  return demanding;
}

async function openSender(clientCertificate?: ClientCertificate): Promise<Sender> {
  const sender = createSender({
    addresses: { allowLoopback: true },
    extraCaFile: (await sharedAuthority()).caFile,
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
  });
  closing.push(() => sender.close());
  return sender;
}

/** With a certificate of the endpoint's own. */
const postWith = (sender: Sender, origin: string, pair: ClientPair): Promise<SendResult> =>
  sender.post({
    ...{ tenantId: 'acme', target: { origin, path: '/hook' }, headers: [], body: BODY },
    clientCertificate: toEndpointCertificate(pair),
  });

const serials = (seen: readonly Seen[]): string[] => [...new Set(seen.map(({ serial }) => serial))];

describe.each(versions)('an endpoint that demands a client certificate, by %s', (version) => {
  it('gets ours', async () => {
    const [client, { origin, seen }] = [await issueClient(), await startDemanding(version)];
    const sender = await openSender(client);
    expect(await post(sender, origin)).toMatchObject({ kind: 'responded', status: 200 });
    expect(serials(seen)).toEqual([serialOf(client)]);
  });

  it('fails the attempt with a code that says so when there is none, after one connection', async () => {
    const { origin, seen } = await startDemanding(version);
    const sender = await openSender();
    for (const result of [await post(sender, origin), ...(await postTimes(20, sender, origin))])
      expect(result).toMatchObject({ error: 'TLS', code: 'TLS_CLIENT_CERTIFICATE_REQUIRED' });
    expect(seen).toEqual([]);
    await eventually(() => sender.stats().connections === 0);
  });

  it('ends a connection that has carried nothing with that code, and no other connection is tried', async () => {
    const { origin, connections } = await startDemanding(version);
    const sender = await openSender();
    const target = { origin, path: '/hook' };
    // By TLS 1.3 its connection stays for the next attempt, until the alert comes.
    await sender.post({ tenantId: 'acme', target, headers: [], body: BODY, mayStart: () => false });
    expect(await post(sender, origin)).toMatchObject({ code: 'TLS_CLIENT_CERTIFICATE_REQUIRED' });
    expect(connections()).toBe(version === 'TLSv1.3' ? 1 : 2);
  });

  it('gets a renewed certificate on every new connection, and no session of the old one', async () => {
    const { origin, seen } = await startDemanding(version, 'once');
    const [before, after] = [await issueClient(), await issueClient()];
    const sender = await openSender(before);
    for (let index = 0; index < 3; index += 1) await post(sender, origin);
    sender.present(after);
    for (let index = 0; index < 3; index += 1) await post(sender, origin);
    const [old, renewed] = [serialOf(before), serialOf(after)];
    expect(seen.map(({ serial, resumed }) => [serial, resumed])).toEqual([
      ...[false, true, true].map((resumed) => [old, resumed]),
      ...[false, true, true].map((resumed) => [renewed, resumed]),
    ]);
  });

  it('loses no attempt by a renewal under load, and connections with the old certificate end', async () => {
    const { origin, seen } = await startDemanding(version);
    const all = [await issueClient(), await issueClient(), await issueClient()];
    const [first, ...renewals] = all;
    const sender = await openSender(first);
    let lost = 0;
    let isOver = false;
    const load = Array.from({ length: 16 }, async () => {
      while (!isOver) if ((await post(sender, origin)).kind !== 'responded') lost += 1;
    });
    for (const renewal of renewals) {
      await eventually(() => seen.length > 300);
      sender.present(renewal);
      seen.length = 0;
      // Whatever was begun before it ends within a moment.
      await eventually(() => seen.length > 300);
      expect(serials(seen.slice(-100))).toEqual([serialOf(renewal)]);
    }
    isOver = true;
    await Promise.all(load);
    expect(lost).toBe(0);
    await eventually(() => sender.stats().pools <= 1);
    await eventually(() => sender.stats().connections === 0);
  });
});

/** How often each certificate was shown. */
const tallied = (seen: readonly Seen[], shown: readonly ClientCertificate[]) =>
  shown.map((one) => ({
    serialNumber: serialOf(one),
    times: seen.filter(({ serial }) => serial === serialOf(one)).length,
  }));

describe.each(versions)('two endpoints of one origin with certificates of their own, by %s', (version) => {
  it('share no TLS session with each other, nor with those that get the sender’s', async () => {
    const { origin, seen } = await startDemanding(version, 'once');
    const [own, first, second] = [await issueClient(), await issueClient(), await issueClient()];
    const sender = await openSender(own);
    for (let round = 0; round < 2; round += 1) {
      await postWith(sender, origin, first);
      await postWith(sender, origin, second);
      await post(sender, origin);
    }
    const all = [serialOf(first), serialOf(second), serialOf(own)];
    expect(seen.map(({ serial, resumed }) => [serial, resumed])).toEqual([
      ...all.map((serial) => [serial, false]),
      ...all.map((serial) => [serial, true]),
    ]);
  });

  it('share no connection, and those of a replaced certificate end', async () => {
    const { origin, seen } = await startDemanding(version);
    const [own, first, second] = [await issueClient(), await issueClient(), await issueClient()];
    const sender = await openSender(own);
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(
        [first, second].flatMap((pair) => [
          postWith(sender, origin, pair),
          postWith(sender, origin, pair),
          post(sender, origin),
        ]),
      );
      for (const { serialNumber, times } of tallied(seen, [first, second, own]))
        expect([serialNumber, times]).toEqual([serialNumber, 2 * (round + 1)]);
    }
    await eventually(() => sender.stats().pools === 0);
    expect(sender.stats().connections).toBe(0);
  });
});

it('a certificate without its key gets no connection of whoever has the key: our own fault, and no attempt', async () => {
  const { origin, seen } = await startDemanding('TLSv1.3');
  const [theirs, mine] = [await issueClient(), await issueClient()];
  const sender = await openSender();
  expect(await postWith(sender, origin, theirs)).toMatchObject({ kind: 'responded' });
  await expect(postWith(sender, origin, { ...theirs, key: mine.key })).rejects.toThrow(/key/);
  expect(seen).toHaveLength(1);
});

describe('an endpoint that requests no client certificate', () => {
  it('gets none', async () => {
    const authority = await sharedAuthority();
    const { certPem: cert, keyPem: key } = await authority.issue(['localhost', '127.0.0.1', '::1']);
    const shown: unknown[] = [];
    const server = createServer({ cert, key }, (request, response) => {
      shown.push((request.socket as TLSSocket).getPeerCertificate());
      response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const sender = await openSender(await issueClient());
    const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
    expect(await post(sender, origin)).toMatchObject({ status: 200 });
    expect(shown).toEqual([{}]);
    server.close();
    server.closeAllConnections();
  });
});

const CURVE = ['-newkey', 'ec', '-pkeyopt'];
const use = (names: string) => ['-addext', `extendedKeyUsage=${names}`];

describe('a pair of files', () => {
  const write = (certificate: string, key: string) => {
    const dir = mkdtempSync(join(tmpdir(), 'client-certificate-'));
    const files = { certificateFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key') };
    writeFileSync(files.certificateFile, certificate);
    writeFileSync(files.keyFile, key);
    return files;
  };

  it('is a chain with its key and the end of its validity', async () => {
    const { certificate, key, expiresAt } = await issueClient();
    const chain = certificate + (await sharedAuthority()).caPem;
    expect(readClientCertificate(write(chain, key))).toMatchObject({ certificate: chain, key, expiresAt });
  });

  type Spoil = (pair: ClientCertificate) => Promise<readonly [string, string]> | readonly [string, string];
  const cut = (pem: string): string => pem.slice(0, 200);
  it.each<[string, Spoil, RegExp]>([
    [
      'with the key of another certificate',
      async ({ certificate }) => [certificate, (await issueClient()).key],
      /got another one/,
    ],
    ['with an expired certificate', async () => pemOf(await issueExpired()), /valid now/],
    ['that is not valid yet', async () => pemOf(await issueClient({ notBefore: inDays(1) })), /valid now/],
    ['that is no PEM', ({ key }) => ['nothing of the kind', key], /PEM/],
    ['whose certificate is half-written', ({ certificate, key }) => [cut(certificate), key], /PEM/],
    ['whose chain is half-written', ({ certificate, key }) => [certificate + cut(certificate), key], /PEM/],
    ['whose key is half-written', ({ certificate, key }) => [certificate, cut(key)], /private key as PEM/],
    ['whose certificate is empty', ({ key }) => ['', key], /PEM/],
    ['whose key is empty', ({ certificate }) => [certificate, ''], /private key as PEM/],
  ])('%s is refused', async (_, spoil, reason) => {
    const pair = await issueClient();
    const files = write(...(await spoil(pair)));
    expect(() => readClientCertificate(files)).toThrow(reason);
    const [line = ''] = pair.key.split('\n').slice(1);
    expect(() => readClientCertificate(files)).not.toThrow(line);
  });

  it('that has expired is taken where that is said, and one that is not valid yet is not', async () => {
    const read = (pair: ClientCertificate) => readClientCertificate(write(...pemOf(pair)), true);
    const [expired, early] = [await issueExpired(), await issueClient({ notBefore: inDays(1) })];
    expect(read(expired).expiresAt).toEqual(expired.expiresAt);
    expect(() => read(early)).toThrow(/valid now/);
  });

  const pemOf = ({ certificate, key }: ClientCertificate) => [certificate, key] as const;

  it.each<[string, readonly string[], RegExp]>([
    ['of RSA with 1,024 bits', ['-newkey', 'rsa:1024'], /2,048 to 4,096 bits/],
    ['of RSA with 4,104 bits', ['-newkey', 'rsa:4104'], /2,048 to 4,096 bits/],
    ['of Ed25519', ['-newkey', 'ed25519'], /of RSA or EC/],
    ['of another curve', [...CURVE, 'ec_paramgen_curve:secp521r1'], /P-256 or P-384/],
    ['for servers alone', [...CURVE, 'ec_paramgen_curve:P-384', ...use('serverAuth')], /client use/],
  ])('%s is refused', async (_, options, reason) => {
    const { certPem: certificate, keyPem: key } = await selfSigned(options);
    expect(() => checkClientCertificate({ certificate, key })).toThrow(reason);
  });

  it.each([
    ['RSA with 2,048 bits', ['-newkey', 'rsa:2048']],
    ['EC P-384 for clients', [...CURVE, 'ec_paramgen_curve:P-384', ...use('serverAuth,clientAuth')]],
    ['EC P-256 for anything', [...CURVE, 'ec_paramgen_curve:P-256', ...use('anyExtendedKeyUsage')]],
  ])('of %s passes', async (_, options) => {
    const { certPem: certificate, keyPem: key } = await selfSigned(options);
    expect(checkClientCertificate({ certificate, key }).subject).toBe('CN=localhost');
  });

  it('whose key is of a type that costs seconds to read is refused at once', async () => {
    const { certificate, key: own } = await issueClient();
    const slow = slowKey();
    const mislabelled = [slowKey('RSA '), slowKey('EC ')];
    for (const key of [slow, `${slow}${own}`, `${own}${slow}`, ...mislabelled, longFactors()]) {
      const begin = performance.now();
      expect(() => checkClientCertificate({ certificate, key })).toThrow(/of RSA or EC/);
      expect(performance.now() - begin).toBeLessThan(1_000);
    }
  });

  it('of a curve that is named in a block of its own passes', async () => {
    const { certPem: certificate, keyPem: key } = await selfSigned([...CURVE, 'ec_paramgen_curve:P-256']);
    const sec1 = String(createPrivateKey(key).export({ format: 'pem', type: 'sec1' }));
    const curve = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
    expect(checkClientCertificate({ certificate, key: `Bag: a-b\n${curve}${sec1}` }).subject).toBe(
      'CN=localhost',
    );
  });

  it('whose time is none is refused', async () => {
    const days = ['-days', '36500'];
    const { certPem, keyPem: key } = await selfSigned([...CURVE, 'ec_paramgen_curve:P-256', ...days]);
    const der = Buffer.from(certPem.replace(/-----.*-----/g, ''), 'base64');
    der.write('1301', der.indexOf('\x18\x0f21', 'latin1') + 6);
    const certificate = pemBlock('CERTIFICATE', der);
    expect(() => checkClientCertificate({ certificate, key })).toThrow(/valid now/);
  });

  it('whose key has a password is refused', async () => {
    const { certificate, key: own } = await issueClient();
    const sealed = { format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'word' } as const;
    const key = String(createPrivateKey(own).export(sealed));
    expect(() => checkClientCertificate({ certificate, key })).toThrow(/without a password/);
  });

  it('that is not there is refused', () => {
    const files = { certificateFile: join(tmpdir(), 'nowhere.crt'), keyFile: join(tmpdir(), 'nowhere.key') };
    expect(() => readClientCertificate(files)).toThrow('ENOENT');
  });
});
