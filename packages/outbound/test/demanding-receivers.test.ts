import { eventually, sharedAuthority, startEndpoint } from '@webhooks/testkit';
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientCertificate, SendResult } from '../src/index.js';
import { createSender, toEndpointCertificate } from '../src/index.js';
import { issueClient, issueExpired, issueStrange } from './client-certificates.js';
import { BODY, post } from './rig.js';

const FOREIGN = join(import.meta.dirname, 'foreign');
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
});

/** `describe`, or skipped with a line that says what is missing. */
function needs(program: string, ...args: string[]): typeof describe {
  if (spawnSync(program, args, { stdio: 'ignore' }).status === 0) return describe;
  process.stdout.write(`skipped: ${program} is not on this machine\n`);
  return describe.skip;
}

async function ownFiles() {
  const authority = await sharedAuthority();
  const { certFile, keyFile } = await authority.issue(['localhost', '127.0.0.1', '::1']);
  return { certFile, keyFile, caFile: authority.caFile };
}

/** Starts a program that demands a certificate of the tests' authority and prints its port first. */
async function startProgram(command: string, args: readonly string[], version: string): Promise<number> {
  const { certFile, keyFile, caFile } = await ownFiles();
  const child = spawn(command, [...args, certFile, keyFile, caFile, version], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return Number(chunk.toString().trim());
}

async function postWith(client: ClientCertificate | undefined, port: number): Promise<SendResult> {
  const sender = createSender({
    addresses: { allowLoopback: true },
    extraCaFile: (await sharedAuthority()).caFile,
    ...(client === undefined ? {} : { clientCertificate: client }),
  });
  const result = await post(sender, `https://localhost:${port}`);
  await sender.close();
  return result;
}

/** By a sender that has another one, in whose place the endpoint's own is presented. */
async function postWithOwn(own: ClientCertificate, port: number): Promise<SendResult> {
  const sender = createSender({
    addresses: { allowLoopback: true },
    extraCaFile: (await sharedAuthority()).caFile,
    clientCertificate: await issueStrange(),
  });
  const target = { origin: `https://localhost:${port}`, path: '/' };
  const request = { tenantId: 'acme', target, headers: [], body: BODY };
  const result = await sender.post({
    ...request,
    clientCertificate: toEndpointCertificate({ certificate: own.certPem, key: own.keyPem }),
  });
  await sender.close();
  return result;
}

const CASES = [
  ['ours', issueClient, { kind: 'answered', status: 200 }],
  [
    'none',
    () => Promise.resolve(undefined),
    { kind: 'unreachable', error: 'TLS', code: 'TLS_CLIENT_CERTIFICATE_REQUIRED' },
  ],
  ['an expired one', issueExpired, { error: 'TLS', code: 'TLS_CLIENT_CERTIFICATE_EXPIRED' }],
  ['one of another authority', issueStrange, { error: 'TLS', code: 'TLS_CLIENT_UNKNOWN_CA' }],
] as const;

const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;

const itTellsThemApart = (start: (version: string) => Promise<number>): void => {
  it.each(VERSIONS)('gives each certificate its outcome, by %s', async (version) => {
    const port = await start(version);
    for (const [name, issue, outcome] of CASES) {
      const client = await issue();
      expect([name, await postWith(client, port)]).toMatchObject([name, outcome]);
      if (client === undefined) continue;
      expect([name, await postWithOwn(client, port)]).toMatchObject([name, outcome]);
    }
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
});

/** As the recipe of the documents has it. */
const nginxConfig = (dir: string, port: number, files: Awaited<ReturnType<typeof ownFiles>>): string => `
daemon off; master_process off; pid ${dir}/nginx.pid; error_log ${dir}/error.log;
events { worker_connections 64; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${files.certFile};
    ssl_certificate_key ${files.keyFile};
    ssl_client_certificate ${files.caFile};
    ssl_verify_client on;
    location / { return 200; }
  }
}`;

needs('nginx', '-v')('a receiver in nginx that demands a client certificate', () => {
  it('refuses by status what it does not accept', async () => {
    const endpoint = await startEndpoint();
    await endpoint.close();
    const { port } = endpoint;
    const dir = mkdtempSync(join(tmpdir(), 'demand-nginx-'));
    writeFileSync(join(dir, 'nginx.conf'), nginxConfig(dir, port, await ownFiles()));
    children.push(spawn('nginx', ['-p', dir, '-c', join(dir, 'nginx.conf')], { stdio: 'inherit' }));
    await eventually(async () => {
      expect(await postWith(await issueClient(), port)).toMatchObject({ status: 200 });
    });
    for (const issue of [() => undefined, issueExpired, issueStrange])
      expect(await postWith(await issue(), port)).toMatchObject({ kind: 'answered', status: 400 });
  });
});
