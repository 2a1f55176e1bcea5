import { openStrangeAuthority, sharedAuthority } from '@webhooks/testkit';
import { X509Certificate } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ClientCertificate } from '../src/index.js';

export const inDays = (days: number): Date => new Date(Date.now() + days * 86_400_000);

type Dates = Readonly<Partial<Record<'notBefore' | 'notAfter', Date>>>;

async function issued(
  authority: ReturnType<typeof sharedAuthority>,
  dates: Dates,
): Promise<ClientCertificate> {
  const {
    certFile,
    keyFile,
    certPem: certificate,
    keyPem: key,
  } = await (await authority).issue(['deliveries'], dates);
  return {
    ...{ certificateFile: certFile, keyFile, certificate, key },
    expiresAt: new X509Certificate(certificate).validToDate,
  };
}

/** A new one at each call, by the authority of the tests. */
export const issueClient = (dates: Dates = {}): Promise<ClientCertificate> =>
  issued(sharedAuthority(), dates);

export const issueExpired = (): Promise<ClientCertificate> =>
  issueClient({ notBefore: inDays(-9), notAfter: inDays(-1) });

/** By an authority that no receiver knows. */
export const issueStrange = (): Promise<ClientCertificate> => issued(openStrangeAuthority(), {});

export const serialOf = ({ certificate }: ClientCertificate): string =>
  new X509Certificate(certificate).serialNumber;

/** A certificate for `localhost` that is its own authority, made with these options of `openssl req`. */
export async function selfSigned(options: readonly string[]) {
  const dir = await mkdtemp(join(tmpdir(), 'weak-certificate-'));
  const [caFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
  const files = ['-keyout', keyFile, '-out', caFile];
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-nodes', '-days', '2', '-subj', '/CN=localhost', ...files],
    ...options,
  ]);
  const [certPem, keyPem] = await Promise.all([caFile, keyFile].map((file) => readFile(file, 'utf8')));
  return { caFile, certPem: certPem ?? '', keyPem: keyPem ?? '' };
}
