import { eventually, sharedAuthority } from '@webhooks/testkit';
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkEgress } from '../src/index.js';
import { parseCredentials } from '../src/guard/egress-proxy.js';
import { issueClient, serialOf } from './client-certificates.js';
import { endAll, needs, openDemanding } from './demanding.js';
import { post, Rig } from './rig.js';

const rig = new Rig();
const children: ChildProcess[] = [];
afterEach(async () => {
  await rig.close();
  await endAll(children);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

interface Program {
  readonly command: string;
  readonly args: (file: string) => readonly string[];
  /** The configuration of a proxy for `user:password` on this port, which lets through to `allowed` alone. */
  readonly configure: (port: number, allowed: number, dir: string) => string;
}

const TINYPROXY: Program = {
  command: 'tinyproxy',
  args: (file) => ['-d', '-c', file],
  configure: (port, allowed) =>
    `Port ${port}\nListen 127.0.0.1\nBasicAuth user password\nConnectPort ${allowed}\nLogLevel Critical\n`,
};

const SQUID: Program = {
  command: 'squid',
  args: (file) => ['-N', '-f', file],
  configure: (port, allowed, dir) => `http_port 127.0.0.1:${port}
pid_filename none
cache deny all
access_log none
cache_log ${dir}/log
coredump_dir ${dir}
shutdown_lifetime 0 seconds
auth_param basic program /usr/lib/squid/basic_ncsa_auth ${dir}/passwords
acl known proxy_auth REQUIRED
acl endpoints port ${allowed}
http_access deny !endpoints
http_access allow known
http_access deny all
`,
};

/** Starts the program, and returns a function that makes a sender by it with these credentials. */
async function start({ command, args, configure }: Program, allowed: number) {
  const dir = await mkdtemp(join(tmpdir(), `${command}-`));
  const port = await freePort();
  const { stdout: hash } = await promisify(execFile)('openssl', ['passwd', '-apr1', 'password']);
  await writeFile(join(dir, 'passwords'), `user:${hash}`);
  await writeFile(join(dir, 'proxy.conf'), configure(port, allowed, dir));
  // squid gives up root.
  await chmod(dir, 0o777);
  children.push(spawn(command, args(join(dir, 'proxy.conf')), { stdio: 'ignore' }));
  const proxyFor = (credentials: string) => ({
    egressProxy: { host: '127.0.0.1', port, authorization: parseCredentials(credentials) },
  });
  await eventually(() => checkEgress(proxyFor('user:password').egressProxy));
  const { caFile: extraCaFile } = await sharedAuthority();
  const clientCertificate = await issueClient();
  const senderFor = (credentials: string) =>
    rig.plainSender({
      ...{ addresses: { allowLoopback: true }, extraCaFile, clientCertificate },
      // Nobody listens at the first address.
      resolve: () => Promise.resolve(['127.0.0.9', '127.0.0.1']),
      ...proxyFor(credentials),
    });
  return { senderFor, serial: serialOf(clientCertificate) };
}

describe.each([
  [TINYPROXY, '-v', 500],
  [SQUID, '-v', 503],
] as const)('a real proxy', (program, versionFlag, unreached) => {
  needs(program.command, versionFlag)(`of ${program.command}`, () => {
    it('carries mutual TLS, and tells an endpoint that is down from its own refusals', async () => {
      const endpoint = await openDemanding('TLSv1.3');
      const { port } = new URL(endpoint.origin);
      const origin = `https://hook.localhost:${port}`;
      const { senderFor, serial } = await start(program, Number(port));
      const sender = senderFor('user:password');
      expect(await post(sender, endpoint.origin)).toMatchObject({ kind: 'responded', status: 200 });
      expect(endpoint.seen).toEqual([{ serial, resumed: false }]);
      expect(await post(sender, origin)).toMatchObject({
        error: 'TLS',
        code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      });
      await expect(post(senderFor('user:wrong'), origin)).rejects.toThrow(/refuses the credentials/);
      await expect(post(sender, `https://hook.localhost:${Number(port) + 1}`)).rejects.toThrow(
        /refuses CONNECT to port \d+ \(403\)/,
      );
      await endpoint.close();
      const down = { kind: 'unreachable', error: 'CONNECT', code: `EGRESS_PROXY_${unreached}` };
      expect(await post(sender, origin)).toMatchObject(down);
    });
  });
});
