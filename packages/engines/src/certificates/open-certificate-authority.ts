import { X509Certificate, createHash, createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { withLock } from '../cache/lock.js';
import { writeWhole } from '../private-file.js';
import { makeAuthority, makeLeaf, type PemPair } from './make-certificate.js';

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
const LEAF_DAYS = 90;
/** Renewed when less than this is left, so that it does not expire under a stack that runs for weeks. */
const RENEW_DAYS = 30;

interface PemFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export type IssuedCertificate = PemPair & PemFiles;

/** For faulty certificates in tests: expired, not valid yet, self-signed. They are made at each call and not kept. */
export interface IssueOptions {
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** Signed by its own key instead of the authority's. */
  readonly selfSigned?: boolean;
}

export interface CertificateAuthority {
  readonly caFile: string;
  readonly caPem: string;
  /** A server certificate for these names and addresses; the kept one while it is valid for 30 more days. */
  issue(hosts: readonly string[], options?: IssueOptions): Promise<IssuedCertificate>;
}

/**
 * A certificate authority of this machine, kept in `dir` (`ca.pem`, `ca-key.pem` with mode 0600), so that HTTPS is
 * checked in development as in production. A new one is made when it is missing, damaged or about to expire.
 */
export async function openCertificateAuthority(dir: string): Promise<CertificateAuthority> {
  const folder = resolve(dir);
  const caFile = join(folder, 'ca.pem');
  const files = { certFile: caFile, keyFile: join(folder, 'ca-key.pem') };
  const exclusively = <T>(work: () => Promise<T>) =>
    withLock(join(folder, '.lock'), { waitMs: 30_000 }, work);

  const authority = await exclusively(
    async () =>
      (await readUsable(files, (certificate) => certificate.ca)) ??
      (await keep(files, await makeAuthority('Webhooks development CA', validFor(AUTHORITY_DAYS)))),
  );

  async function issue(hosts: readonly string[], options?: IssueOptions): Promise<IssuedCertificate> {
    if (hosts.length === 0) throw new Error('a certificate needs at least one host name or address');
    if (options) return issueAsTold(hosts, options);
    const leafFiles = leafFilesOf(folder, hosts);
    const authorityKey = new X509Certificate(authority.certPem).publicKey;
    return exclusively(async () => {
      const kept = await readUsable(
        leafFiles,
        (leaf) => leaf.verify(authorityKey) && hosts.every((host) => isFor(leaf, host)),
      );
      return kept ?? keep(leafFiles, await makeLeaf({ hosts, authority, ...validFor(LEAF_DAYS) }));
    });
  }

  async function issueAsTold(hosts: readonly string[], options: IssueOptions): Promise<IssuedCertificate> {
    const { selfSigned = false, ...dates } = options;
    const validity = { ...validFor(LEAF_DAYS), ...dates };
    const pair = await makeLeaf({ hosts, ...validity, ...(selfSigned ? {} : { authority }) });
    return keep(leafFilesOf(folder, hosts, pair.certPem), pair);
  }

  return { caFile, caPem: authority.certPem, issue };
}

function leafFilesOf(folder: string, hosts: readonly string[], variant = ''): PemFiles {
  const hash = createHash('sha256')
    .update([...hosts, variant].join('\0'))
    .digest('hex')
    .slice(0, 12);
  const name = `${(hosts[0] ?? '').replaceAll(/[^A-Za-z0-9.-]/g, '_')}-${hash}`;
  return { certFile: join(folder, `${name}.pem`), keyFile: join(folder, `${name}-key.pem`) };
}

/** From a day ago, for clocks that lag. */
function validFor(days: number): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - DAY_MS), notAfter: new Date(now + days * DAY_MS) };
}

async function readUsable(
  files: PemFiles,
  suits: (certificate: X509Certificate) => boolean,
): Promise<IssuedCertificate | undefined> {
  try {
    const [certPem, keyPem] = await Promise.all([
      readFile(files.certFile, 'utf8'),
      readFile(files.keyFile, 'utf8'),
    ]);
    const certificate = new X509Certificate(certPem);
    const lasts = certificate.validToDate.getTime() - Date.now() > RENEW_DAYS * DAY_MS;
    const fits = certificate.checkPrivateKey(createPrivateKey(keyPem));
    return lasts && fits && suits(certificate) ? { ...files, certPem, keyPem } : undefined;
  } catch {
    return undefined; // missing or damaged: a new one is made
  }
}

async function keep(files: PemFiles, pair: PemPair): Promise<IssuedCertificate> {
  await writeWhole(files.keyFile, pair.keyPem, 'secret');
  await writeWhole(files.certFile, pair.certPem, 'public');
  return { ...files, ...pair };
}

function isFor(certificate: X509Certificate, host: string): boolean {
  if (isIP(host) !== 0) return certificate.checkIP(host) !== undefined;
  return (certificate.subjectAltName ?? '').split(', ').includes(`DNS:${host}`);
}
