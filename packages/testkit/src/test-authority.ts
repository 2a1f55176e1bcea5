import type { CertificateAuthority } from '@webhooks/engines';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

let shared: Promise<CertificateAuthority> | undefined;

/** The authority of this user's tests: kept between runs, shared by all processes, trusted by nobody by itself. */
export function sharedAuthority(): Promise<CertificateAuthority> {
  shared ??= open(join(tmpdir(), `webhooks-test-authority-${userInfo().username}`));
  return shared;
}

/** Another authority in a new folder, for tests with one that is not trusted. */
export async function openStrangeAuthority(): Promise<CertificateAuthority> {
  return open(await mkdtemp(join(tmpdir(), 'webhooks-strange-authority-')));
}

/** Loaded only here: engines brings database and broker clients along, which most users of testkit do not need. */
async function open(dir: string): Promise<CertificateAuthority> {
  const { openCertificateAuthority } = await import('@webhooks/engines');
  return openCertificateAuthority(dir);
}
