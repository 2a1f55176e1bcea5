import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Closers, Registry } from '@webhooks/runtime';
import { eventually, sharedAuthority } from '@webhooks/testkit';
import { readClientCertificate, watchClientCertificate } from '../src/index.js';
import type { ClientPair } from '@webhooks/contracts';
import type { ClientCertificate } from '../src/index.js';

const DAY_MS = 86_400_000;
const silent = (): undefined => undefined;

const inDays = (days: number): Date => new Date(Date.now() + days * DAY_MS);

async function issue(days = 60): Promise<ClientPair> {
  const dates = { notBefore: inDays(days - 90), notAfter: inDays(days) };
  const { certPem: certificate, keyPem: key } = await (await sharedAuthority()).issue(['deliveries'], dates);
  return { certificate, key };
}

/** As Kubernetes has a mounted secret: names that lead through a symlink, which is swapped at a renewal. */
function mount() {
  const dir = mkdtempSync(join(tmpdir(), 'mounted-'));
  let version = 0;
  const put = ({ certificate, key }: ClientPair): void => {
    version += 1;
    mkdirSync(join(dir, `v${version}`));
    writeFileSync(join(dir, `v${version}`, 'tls.crt'), certificate);
    writeFileSync(join(dir, `v${version}`, 'tls.key'), key);
    symlinkSync(`v${version}`, join(dir, 'next'));
    renameSync(join(dir, 'next'), join(dir, 'data'));
  };
  const files = { certificateFile: join(dir, 'data', 'tls.crt'), keyFile: join(dir, 'data', 'tls.key') };
  return { put, files };
}

const closers = new Closers();
afterEach(() => closers.closeAll({ debug: silent, info: silent, warn: silent, error: silent }, 5_000));

async function watching(days?: number) {
  const first = await issue(days);
  const { put, files } = mount();
  put(first);
  const presented: ClientCertificate[] = [];
  const lines: string[] = [];
  const note = (message: string): void => void lines.push(message);
  const registry = new Registry();
  watchClientCertificate(
    readClientCertificate(files, true),
    { present: (certificate) => void presented.push(certificate) },
    {
      registry,
      log: { debug: silent, info: note, warn: note, error: note },
      onClose: (name, close) => closers.add(name, close),
    },
    20,
  );
  const metric = async (name: string): Promise<number> =>
    Number(
      new RegExp(String.raw`^webhook_client_certificate_${name} (\S+)$`, 'm').exec(
        await registry.metrics(),
      )?.[1],
    );
  return { first, put, presented, lines, metric };
}

const endOf = ({ certificate }: ClientPair): number =>
  new X509Certificate(certificate).validToDate.getTime() / 1_000;

it('presents a renewed pair, and reports when it expires', async () => {
  const { first, put, presented, lines, metric } = await watching();
  expect(await metric('expiry_timestamp_seconds')).toBe(endOf(first));
  const renewed = await issue(80);
  put(renewed);
  await eventually(() => presented.length > 0);
  expect(presented).toEqual([expect.objectContaining(renewed)]);
  expect(await metric('expiry_timestamp_seconds')).toBe(endOf(renewed));
  expect(await metric('refused')).toBe(0);
  expect(lines).toEqual(['the client certificate was renewed']);
});

it('reports a pair that expired before the start with its time and as refused', async () => {
  const { first, put, presented, metric } = await watching(-1);
  await eventually(async () => (await metric('refused')) === 1);
  expect(await metric('expiry_timestamp_seconds')).toBe(endOf(first));
  const good = await issue();
  put(good);
  await eventually(() => presented.length > 0);
  expect(await metric('expiry_timestamp_seconds')).toBe(endOf(good));
});

it.each<[string, (pair: ClientPair) => Promise<ClientPair> | ClientPair]>([
  ['whose key is of another one', async ({ key }) => ({ certificate: (await issue()).certificate, key })],
  ['that has expired', () => issue(-1)],
  ['that is no PEM', () => ({ certificate: 'nothing of the kind', key: '' })],
  ['that is half-written', ({ certificate, key }) => ({ certificate: certificate.slice(0, 100), key })],
])('refuses a pair %s, says so once, and keeps the one before until the next good one', async (_, spoil) => {
  const { first, put, presented, lines, metric } = await watching();
  put(await spoil(first));
  await eventually(async () => (await metric('refused')) === 1);
  expect(presented).toEqual([]);
  expect(await metric('expiry_timestamp_seconds')).toBe(endOf(first));
  const good = await issue(70);
  put(good);
  await eventually(async () => (await metric('refused')) === 0);
  expect(presented).toEqual([expect.objectContaining(good)]);
  expect(lines).toEqual([
    'renewing the client certificate failed; retrying',
    'the client certificate was renewed',
    'renewing the client certificate works again',
  ]);
});
