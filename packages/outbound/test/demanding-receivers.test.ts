import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedAuthority } from '@webhooks/testkit';
import { createSender } from '../src/index.js';
import { selfSigned } from './client-certificates.js';
import { post } from './rig.js';
import { BY_ALERT, endAll, needs, outcomesAt, ownFiles, postWithOwn } from './demanding.js';

/** A certificate as long as a chain of four. */
const LONG = ['-addext', `nsComment=${'x'.repeat(9_000)}`];
const FOREIGN = join(import.meta.dirname, 'foreign');
const children: ChildProcess[] = [];
afterEach(() => endAll(children));

/** Starts a program that demands a certificate of this authority (default: the tests') and prints its port first. */
async function startProgram(
  command: string,
  args: readonly string[],
  version: string,
  authority?: string,
): Promise<number> {
  const { certFile, keyFile, caFile } = await ownFiles();
  const child = spawn(command, [...args, certFile, keyFile, authority ?? caFile, version], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return Number(chunk.toString().trim());
}

const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;

const itTellsThemApart = (start: (version: string) => Promise<number>): void => {
  it.each(VERSIONS)('gives each certificate its outcome, by %s', async (version) => {
    const port = await start(version);
    expect(await outcomesAt(port)).toEqual({ ours: 200, ...BY_ALERT });
    expect(await outcomesAt(port, postWithOwn)).toEqual({ ours: 200, ...BY_ALERT });
  });
};

needs('python3', '--version')('a receiver in Python that demands a client certificate', () => {
  itTellsThemApart((version) => startProgram('python3', [join(FOREIGN, 'demand.py')], version));
});

needs('go', 'version')('a receiver in Go that demands a client certificate', () => {
  const binary = join(mkdtempSync(join(tmpdir(), 'demand-')), 'demand');

  // A first build compiles Go's standard library.
  beforeAll(async () => {
    const env = { ...process.env, GO111MODULE: 'off' };
    const build = spawn('go', ['build', '-o', binary, join(FOREIGN, 'demand.go')], { stdio: 'inherit', env });
    expect(await once(build, 'exit')).toEqual([0, null]);
  }, 240_000);

  itTellsThemApart((version) => startProgram(binary, [], version));

  // Go's ticket has the chain that was presented, and each one that was verified.
  it('sends a ticket as long as our chain, which is no flood', async () => {
    const { caFile, certPem: certificate, keyPem: key } = await selfSigned(LONG);
    const port = await startProgram(binary, [], 'TLSv1.3', caFile);
    const isolated: string[] = [];
    const sender = createSender({
      addresses: { allowLoopback: true },
      extraCaFile: (await sharedAuthority()).caFile,
      clientCertificate: { certificate, key, certificateFile: '', keyFile: '', expiresAt: new Date() },
      onIsolated: (tenantId) => isolated.push(tenantId),
    });
    expect(await post(sender, `https://localhost:${port}`)).toMatchObject({ status: 200 });
    await sender.close();
    expect(isolated).toEqual([]);
  });
});
