import { X509Certificate } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import {
  openCertificateAuthority,
  type CertificateAuthority,
  type IssuedCertificate,
} from '../../src/certificates/open-certificate-authority.js';
import { errorText } from '../../src/engine/command.js';
import { scratchFolders } from '../scratch-folder.js';

const DAY_MS = 86_400_000;

/** 'trusted', or the code of what a TLS client that knows `ca` holds against the certificate. */
async function verdictOf(certificate: IssuedCertificate, servername: string, ca: string): Promise<string> {
  const server = createServer({ cert: certificate.certPem, key: certificate.keyPem });
  server.on('tlsClientError', () => undefined);
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(portOf(server.address())));
  });
  const answer = await new Promise<string>((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', servername, ca, minVersion: 'TLSv1.2' });
    socket.once('secureConnect', () => {
      socket.destroy();
      resolve('trusted');
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? errorText(error)));
  });
  server.close();
  return answer;
}

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === 'object' ? (address?.port ?? 0) : 0;

describe('the certificate authority', () => {
  const scratch = scratchFolders();
  let folder: string;
  let authority: CertificateAuthority;
  beforeAll(async () => {
    folder = await scratch();
    authority = await openCertificateAuthority(folder);
  });

  const verdict = (certificate: IssuedCertificate, name: string, ca = authority.caPem) =>
    verdictOf(certificate, name, ca);

  it('issues certificates that node:tls trusts for their names', async () => {
    const certificate = await authority.issue(['localhost', 'hooks.example', '127.0.0.1', '::1']);
    await expect(verdict(certificate, 'localhost')).resolves.toBe('trusted');
    await expect(verdict(certificate, 'hooks.example')).resolves.toBe('trusted');
    expect(new X509Certificate(certificate.certPem).checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(new X509Certificate(certificate.certPem).checkIP('::1')).toBe('::1');
  });

  it.each([
    ['for another name', ['other.example'], {}, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    [
      'expired',
      ['localhost'],
      { notBefore: new Date(Date.now() - 2 * DAY_MS), notAfter: new Date(Date.now() - DAY_MS) },
      'CERT_HAS_EXPIRED',
    ],
    ['not valid yet', ['localhost'], { notBefore: new Date(Date.now() + DAY_MS) }, 'CERT_NOT_YET_VALID'],
    ['self-signed', ['localhost'], { selfSigned: true }, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ])('makes faulty certificates for tests: %s', async (_what, hosts, options, code) => {
    await expect(verdict(await authority.issue(hosts, options), 'localhost')).resolves.toBe(code);
  });

  it('is not trusted without its certificate', async () => {
    const stranger = await openCertificateAuthority(await scratch());
    const certificate = await authority.issue(['localhost']);
    await expect(verdict(certificate, 'localhost', stranger.caPem)).resolves.toMatch(
      /UNABLE_TO_VERIFY|SELF_SIGNED/,
    );
  });

  it('is kept, with keys that only the owner can read', async () => {
    const again = await openCertificateAuthority(folder);
    expect(again.caPem).toBe(authority.caPem);
    expect(await readFile(again.caFile, 'utf8')).toBe(authority.caPem);
    const { keyFile } = await again.issue(['kept.example']);
    expect((await stat(join(folder, 'ca-key.pem'))).mode & 0o777).toBe(0o600);
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
  });

  it('starts anew when its files are damaged', async () => {
    const damaged = await scratch();
    const before = await openCertificateAuthority(damaged);
    await before.issue(['localhost']);
    await writeFile(join(damaged, 'ca.pem'), before.caPem.slice(0, 100));
    const after = await openCertificateAuthority(damaged);
    expect(after.caPem).not.toBe(before.caPem);
    await expect(verdict(await after.issue(['localhost']), 'localhost', after.caPem)).resolves.toBe(
      'trusted',
    );
  });
});
