import { sharedAuthority } from '@webhooks/testkit';
import { spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { SecureVersion, TLSSocket } from 'node:tls';
import { createSender, toEndpointCertificate } from '../src/index.js';
import type { ClientCertificate, SendResult } from '../src/index.js';
import { issueClient, issueExpired, issueStrange } from './client-certificates.js';
import { BODY, post } from './rig.js';

/** `describe`, or skipped with a line that says what is missing. */
export function needs(program: string, ...args: string[]): typeof describe {
  if (spawnSync(program, args, { stdio: 'ignore' }).status === 0) return describe;
  process.stdout.write(`skipped: ${program} is not on this machine\n`);
  return describe.skip;
}

export async function ownFiles() {
  const authority = await sharedAuthority();
  const { certFile, keyFile } = await authority.issue(['localhost', '127.0.0.1', '::1']);
  return { certFile, keyFile, caFile: authority.caFile };
}

export async function postWith(client: ClientCertificate | undefined, port: number): Promise<SendResult> {
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
export async function postWithOwn(own: ClientCertificate | undefined, port: number): Promise<SendResult> {
  if (own === undefined) return postWith(own, port);
  const sender = createSender({
    addresses: { allowLoopback: true },
    extraCaFile: (await sharedAuthority()).caFile,
    clientCertificate: await issueStrange(),
  });
  const target = { origin: `https://localhost:${port}`, path: '/' };
  const request = { tenantId: 'acme', target, headers: [], body: BODY };
  const result = await sender.post({
    ...request,
    clientCertificate: toEndpointCertificate(own),
  });
  await sender.close();
  return result;
}

const CLIENTS = [
  ['ours', issueClient],
  ['none', () => Promise.resolve(undefined)],
  ['an expired one', issueExpired],
  ['one of another authority', issueStrange],
] as const;

/** The code, or the status, that each client certificate gets. */
export async function outcomesAt(
  port: number,
  postBy = postWith,
): Promise<Readonly<Record<string, number | string>>> {
  const outcomes: Record<string, number | string> = {};
  for (const [name, issue] of CLIENTS) {
    const result = await postBy(await issue(), port);
    outcomes[name] = 'status' in result ? result.status : 'code' in result ? result.code : result.kind;
  }
  return outcomes;
}

/** What Go and Python say in the handshake. */
export const BY_ALERT = {
  none: 'TLS_CLIENT_CERTIFICATE_REQUIRED',
  'an expired one': 'TLS_CLIENT_CERTIFICATE_EXPIRED',
  'one of another authority': 'TLS_CLIENT_UNKNOWN_CA',
};

export async function endAll(children: ChildProcess[]): Promise<void> {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}

/** Of one request: what its connection showed. */
export interface Seen {
  readonly serial: string;
  readonly resumed: boolean;
}

/** Demands a client certificate of the tests' authority; `once`: one request on each connection. */
export async function openDemanding(version: SecureVersion, manners: 'keep' | 'once' = 'keep') {
  const authority = await sharedAuthority();
  const { certPem: cert, keyPem: key } = await authority.issue(['localhost', '127.0.0.1', '::1']);
  const seen: Seen[] = [];
  let connections = 0;
  const versionsOnly = { minVersion: version, maxVersion: version };
  const demands = { ca: authority.caPem, requestCert: true, rejectUnauthorized: true };
  const server = createServer({ ...versionsOnly, ...demands, cert, key }, (request, response) => {
    const socket = request.socket as TLSSocket;
    seen.push({ serial: socket.getPeerCertificate().serialNumber, resumed: socket.isSessionReused() });
    if (manners === 'once') response.setHeader('connection', 'close');
    request.resume().once('end', () => response.end());
  });
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    /** TCP connections so far. */
    connections: () => connections,
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    seen,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
