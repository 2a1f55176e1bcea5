import type { CertificateAuthority } from '@webhooks/local';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

let shared: Promise<CertificateAuthority> | undefined;

/** Opens the authority of this user's tests. It is stored between runs and shared by all processes. No program trusts it by default. */
export function sharedAuthority(): Promise<CertificateAuthority> {
  shared ??= open(join(tmpdir(), `webhooks-test-authority-${userInfo().username}`));
  return shared;
}

/** Opens another authority in a new folder, for tests with an untrusted one. */
export async function openStrangeAuthority(): Promise<CertificateAuthority> {
  return open(await mkdtemp(join(tmpdir(), 'webhooks-strange-authority-')));
}

/**
 * Issues a certificate for `host` through an intermediate authority under a new root (`caFile`). The endpoint should send both
 * certificates.
 */
export async function issueThroughIntermediate(host: string) {
  const { loadCertificateMaker } = await import('@webhooks/local');
  const { makeAuthority, makeLeaf } = await loadCertificateMaker();
  const now = Date.now();
  const validity = { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + 86_400_000) };
  const root = await makeAuthority('Root of a test', validity, 1);
  const intermediate = await makeAuthority('Intermediate of a test', { ...validity, authority: root });
  const leaf = await makeLeaf([host], { ...validity, authority: intermediate });
  const caFile = join(await mkdtemp(join(tmpdir(), 'webhooks-root-')), 'ca.pem');
  await writeFile(caFile, root.certPem);
  return { caFile, leafPem: leaf.certPem, intermediatePem: intermediate.certPem, keyPem: leaf.keyPem };
}

/** Loaded on demand: `local` imports database and broker clients, which most users of testkit do not need. */
async function open(dir: string): Promise<CertificateAuthority> {
  const { openCertificateAuthority } = await import('@webhooks/local');
  return openCertificateAuthority(dir);
}
