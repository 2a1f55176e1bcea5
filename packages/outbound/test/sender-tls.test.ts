import { openStrangeAuthority, sharedAuthority } from '@webhooks/testkit';
import type { EndpointOptions } from '@webhooks/testkit';
import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createSender } from '../src/index.js';
import type { SendResult } from '../src/index.js';
import { post, Rig } from './rig.js';

const rig = new Rig();
afterEach(() => rig.close());

const DAY_MS = 86_400_000;
const inDays = (days: number): Date => new Date(Date.now() + days * DAY_MS);

/** Posts to an endpoint with these credentials while trusting the tests' authority. */
async function postTo(options: EndpointOptions): Promise<SendResult & { arrivals: number }> {
  const { caFile } = await sharedAuthority();
  const endpoint = await rig.endpoint(options);
  const result = await post(
    rig.sender(endpoint, { extraCaFile: caFile }),
    `https://localhost:${endpoint.port}`,
  );
  return { ...result, arrivals: endpoint.stats().arrivals };
}

const refusedWith = (code: string | RegExp): object => ({
  kind: 'unreachable',
  error: 'TLS',
  code: expect.stringMatching(code) as string,
  arrivals: 0,
});

describe('TLS', () => {
  it('refuses a certificate that has expired', async () => {
    const leaf = await (
      await sharedAuthority()
    ).issue(['localhost'], { notBefore: inDays(-9), notAfter: inDays(-1) });
    expect(await postTo(leaf)).toMatchObject(refusedWith('CERT_HAS_EXPIRED'));
  });

  it('refuses a certificate that is not valid yet', async () => {
    const leaf = await (
      await sharedAuthority()
    ).issue(['localhost'], { notBefore: inDays(1), notAfter: inDays(9) });
    expect(await postTo(leaf)).toMatchObject(refusedWith('CERT_NOT_YET_VALID'));
  });

  it.each([['hook.acme.com.br'], ['*.localhost'], ['127.0.0.1']])(
    'refuses a certificate for %s',
    async (host) => {
      const leaf = await (await sharedAuthority()).issue([host]);
      expect(await postTo(leaf)).toMatchObject(refusedWith('ERR_TLS_CERT_ALTNAME_INVALID'));
    },
  );

  it('refuses a self-signed certificate', async () => {
    const leaf = await (await sharedAuthority()).issue(['localhost'], { selfSigned: true });
    expect(await postTo(leaf)).toMatchObject(refusedWith('DEPTH_ZERO_SELF_SIGNED_CERT'));
  });

  it('refuses an authority that it does not know', async () => {
    const leaf = await (await openStrangeAuthority()).issue(['localhost']);
    expect(await postTo(leaf)).toMatchObject(refusedWith(/^UNABLE_TO_/));
  });

  it('refuses the tests authority, too, unless it is configured', async () => {
    const endpoint = await rig.endpoint();
    const sender = rig.plainSender({ addresses: { allowLoopback: true } });
    expect(await post(sender, endpoint.origin)).toMatchObject({ kind: 'unreachable', error: 'TLS' });
  });

  it.each(['TLSv1', 'TLSv1.1'] as const)('refuses an endpoint that speaks %s at most', async (maxVersion) => {
    const tls = { minVersion: 'TLSv1', maxVersion, ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    expect(await postTo({ tls })).toMatchObject(refusedWith(/^ERR_SSL_/));
  });

  it('speaks TLS 1.2 with an endpoint that knows nothing newer', async () => {
    expect(await postTo({ tls: { maxVersion: 'TLSv1.2' } })).toMatchObject({
      kind: 'responded',
      status: 200,
    });
  });

  it('refuses an endpoint that speaks plain HTTP on its port', async () => {
    expect(await postTo({ plain: true })).toMatchObject({ kind: 'unreachable', error: 'TLS', arrivals: 0 });
  });

  it('offers HTTP/1.1, and never HTTP/2', async () => {
    const offered: string[][] = [];
    const ALPNCallback = ({ protocols }: { protocols: string[] }): string => {
      offered.push(protocols);
      return 'http/1.1';
    };
    expect(await postTo({ tls: { ALPNCallback } })).toMatchObject({ status: 200 });
    expect(offered).toEqual([['http/1.1']]);
  });

  it('checks certificates even when the environment says otherwise', async () => {
    const leaf = await (await openStrangeAuthority()).issue(['localhost']);
    const endpoint = await rig.endpoint(leaf);
    const origin = `https://localhost:${endpoint.port}`;
    // In a process of its own: what a test of jest writes into process.env, Node does not see.
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(import.meta.dirname, 'post-once.mjs'), origin],
      { env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0' }, timeout: 30_000 },
    );
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'unreachable', error: 'TLS' });
    expect(endpoint.stats().arrivals).toBe(0);
  });

  it('works again by itself once the certificate is renewed', async () => {
    const authority = await sharedAuthority();
    const expired = await authority.issue(['localhost'], { notBefore: inDays(-9), notAfter: inDays(-1) });
    const first = await rig.endpoint(expired);
    const sender = rig.sender(first, { extraCaFile: authority.caFile });
    expect(await post(sender, first.origin)).toMatchObject({ error: 'TLS' });
    await first.close();
    await rig.endpoint({ port: first.port });
    expect(await post(sender, first.origin)).toMatchObject({ kind: 'responded', status: 200 });
  });
});

describe('the extra authority file', () => {
  it('is trusted besides those that Node trusts', async () => {
    const authority = await sharedAuthority();
    const { origin } = await rig.endpoint({ ...(await authority.issue(['localhost'])) });
    const { caFile: strange } = await openStrangeAuthority();
    const outcomeOf = async (known: string, extra: string): Promise<unknown> => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [join(import.meta.dirname, 'post-once.mjs'), origin, extra],
        { env: { ...process.env, NODE_EXTRA_CA_CERTS: known }, timeout: 30_000 },
      );
      return JSON.parse(stdout);
    };
    const accepted = { kind: 'responded', status: 200 };
    expect(await outcomeOf(authority.caFile, strange)).toMatchObject(accepted);
    expect(await outcomeOf(strange, authority.caFile)).toMatchObject(accepted);
    expect(await outcomeOf(strange, strange)).toMatchObject({ kind: 'unreachable', error: 'TLS' });
  });

  it('must hold a certificate', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'authority-')), 'ca.pem');
    await writeFile(file, 'nothing of the kind');
    expect(() => createSender({ extraCaFile: file })).toThrow('expected one or more PEM certificates');
    expect(() => createSender({ extraCaFile: `${file}.missing` })).toThrow('ENOENT');
  });
});
