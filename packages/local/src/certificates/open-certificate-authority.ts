import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { writeWhole } from '../engine/folders.js';
import type { PemPair } from './make-certificate.js';

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
const LEAF_DAYS = 90;
/** A certificate that is valid for fewer days is reissued, so that none expires while a stack runs for weeks. */
const RENEW_DAYS = 30;

/** Loaded on demand, because it takes 0.2 s of CPU time and most processes find usable certificates on disk. */
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
  /**
   * Returns a certificate for these names and addresses, valid for 30 to 90 days more: the stored one if it is usable. With options it
   * issues a new one. Throws for an empty list.
   */
  issue(hosts: readonly string[], options?: IssueOptions): Promise<IssuedCertificate>;
}

/**
 * Opens the certificate authority in the folder `dir` (`ca.pem`, `ca-key.pem` with mode 0600). One that is missing, damaged or about to
 * expire is recreated. With it, HTTPS is verified in development as in production. One process may open it at a time.
 */
export async function openCertificateAuthority(dir: string): Promise<CertificateAuthority> {
  const folder = resolve(dir);
  const caFile = join(folder, 'ca.pem');
  const files = { certFile: caFile, keyFile: join(folder, 'ca-key.pem') };
  const filesOf = (name: string): PemFiles => ({
    certFile: join(folder, `${name}.pem`),
    keyFile: join(folder, `${name}-key.pem`),
  });
  const createAuthority = async (): Promise<IssuedCertificate> => {
    const { makeAuthority } = await loadCertificateMaker();
    return store(files, await makeAuthority('Webhooks development CA', validFor(AUTHORITY_DAYS)));
  };
  const authority = (await readUsable(files)) ?? (await createAuthority());
  return {
    caFile,
    caPem: authority.certPem,
    issue: async (hosts, options) => {
      if (hosts.length === 0) throw new Error('a certificate needs at least one host name or address');
      // A file with the serial number of the latest certificate for these hosts. Several processes may write it at once.
      const latest = join(folder, `${serialOf(authority)}-${encodeURIComponent(hosts.join())}`);
      const stored = options === undefined ? await readUsable(filesOf(await readText(latest))) : undefined;
      if (stored) return stored;
      const { selfSigned = false, ...dates } = options ?? {};
      const validity = { ...validFor(LEAF_DAYS), ...dates };
      const { makeLeaf } = await loadCertificateMaker();
      const pair = await makeLeaf(hosts, { ...validity, ...(selfSigned ? {} : { authority }) });
      const issued = await store(filesOf(serialOf(pair)), pair);
      if (options === undefined) await writeWhole(latest, serialOf(pair), 0o644);
      return issued;
    },
  };
}

/** The validity begins a day ago, for clocks that lag. */
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
    return undefined; // missing or damaged: it is recreated
  }
}

async function store(files: PemFiles, pair: PemPair): Promise<IssuedCertificate> {
  await writeWhole(files.keyFile, pair.keyPem, 0o600);
  await writeWhole(files.certFile, pair.certPem, 0o644);
  return { ...files, ...pair };
}
