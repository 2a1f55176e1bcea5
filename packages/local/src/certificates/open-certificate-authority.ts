import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { writeWhole } from '../engine/folders.js';
import type { PemPair } from './make-certificate.js';

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
const LEAF_DAYS = 90;
/** Renewed when less than this is left, so that it does not expire under a stack that runs for weeks. */
const RENEW_DAYS = 30;

/** Loaded on demand, because it takes 0.2 s of CPU and most processes find their certificates made. */
export const loadCertificateMaker = () => import('./make-certificate.js');

interface PemFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export type IssuedCertificate = PemPair & PemFiles;

/** For faulty certificates in tests: expired, not valid yet, self-signed. */
interface IssueOptions {
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** Signed by its own key instead of the authority's. */
  readonly selfSigned?: boolean;
}

export interface CertificateAuthority {
  readonly caFile: string;
  readonly caPem: string;
  /** Issues a certificate for these names and addresses, valid for 30 to 90 days. With options it is a new one. */
  issue(hosts: readonly string[], options?: IssueOptions): Promise<IssuedCertificate>;
}

/**
 * A certificate authority of this machine, kept in `dir` (`ca.pem`, `ca-key.pem` with mode 0600), so that HTTPS is
 * checked in development as in production. A new one is made when it is missing, damaged or about to expire. One process
 * may open it at a time.
 */
export async function openCertificateAuthority(dir: string): Promise<CertificateAuthority> {
  const folder = resolve(dir);
  const caFile = join(folder, 'ca.pem');
  const files = { certFile: caFile, keyFile: join(folder, 'ca-key.pem') };
  const filesOf = (name: string): PemFiles => ({
    certFile: join(folder, `${name}.pem`),
    keyFile: join(folder, `${name}-key.pem`),
  });
  const makeNew = async (): Promise<IssuedCertificate> => {
    const { makeAuthority } = await loadCertificateMaker();
    return keep(files, await makeAuthority('Webhooks development CA', validFor(AUTHORITY_DAYS)));
  };
  const authority = (await readUsable(files)) ?? (await makeNew());
  return {
    caFile,
    caPem: authority.certPem,
    issue: async (hosts, options) => {
      if (hosts.length === 0) throw new Error('a certificate needs at least one host name or address');
      // Names the latest one for these hosts: several processes may write it at once.
      const latest = join(folder, `${serialOf(authority)}-${encodeURIComponent(hosts.join())}`);
      const kept = options === undefined ? await readUsable(filesOf(await readText(latest))) : undefined;
      if (kept) return kept;
      const { selfSigned = false, ...dates } = options ?? {};
      const validity = { ...validFor(LEAF_DAYS), ...dates };
      const { makeLeaf } = await loadCertificateMaker();
      const pair = await makeLeaf(hosts, { ...validity, ...(selfSigned ? {} : { authority }) });
      const issued = await keep(filesOf(serialOf(pair)), pair);
      if (options === undefined) await writeWhole(latest, serialOf(pair), 0o644);
      return issued;
    },
  };
}

/** From a day ago, for clocks that lag. */
function validFor(days: number): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - DAY_MS), notAfter: new Date(now + days * DAY_MS) };
}

const serialOf = ({ certPem }: PemPair): string => new X509Certificate(certPem).serialNumber;

const readText = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

async function readUsable(files: PemFiles): Promise<IssuedCertificate | undefined> {
  try {
    const [certPem, keyPem] = await Promise.all([
      readFile(files.certFile, 'utf8'),
      readFile(files.keyFile, 'utf8'),
    ]);
    const certificate = new X509Certificate(certPem);
    const lasts = certificate.validToDate.getTime() - Date.now() > RENEW_DAYS * DAY_MS;
    const fits = certificate.checkPrivateKey(createPrivateKey(keyPem));
    return lasts && fits ? { ...files, certPem, keyPem } : undefined;
  } catch {
    return undefined; // missing or damaged: a new one is made
  }
}

async function keep(files: PemFiles, pair: PemPair): Promise<IssuedCertificate> {
  await writeWhole(files.keyFile, pair.keyPem, 0o600);
  await writeWhole(files.certFile, pair.certPem, 0o644);
  return { ...files, ...pair };
}
