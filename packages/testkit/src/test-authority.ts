import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface IssuedCertificate {
  readonly certPem: string;
  readonly keyPem: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export interface CertificateAuthority {
  readonly caFile: string;
  readonly caPem: string;
  issue(
    hosts: readonly string[],
    validity?: { notBefore?: Date; notAfter?: Date },
  ): Promise<IssuedCertificate>;
}

const run = promisify(execFile);
let shared: Promise<CertificateAuthority> | undefined;

/** One certificate authority for all endpoints of this process, in a folder of its own under the temporary one. */
export function sharedAuthority(): Promise<CertificateAuthority> {
  shared ??= mkdtemp(join(tmpdir(), 'webhooks-ca-')).then(openTestAuthority);
  return shared;
}

/** Another authority that nobody trusts, for tests of exactly that. */
export async function openTestAuthority(dir: string): Promise<CertificateAuthority> {
  await mkdir(dir, { recursive: true });
  const [caKey, caFile] = [join(dir, 'ca.key'), join(dir, 'ca.pem')];
  const ca = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'];
  await run('openssl', ['req', ...ca, '-subj', '/CN=webhooks test', '-keyout', caKey, '-out', caFile]);
  let count = 0;
  return {
    caFile,
    caPem: await readFile(caFile, 'utf8'),
    async issue(hosts) {
      count += 1;
      const base = join(dir, `leaf-${count}`);
      const [certFile, keyFile] = [`${base}.pem`, `${base}.key`];
      const names = hosts.map((host) => (/^[\d.]+$|:/.test(host) ? `IP:${host}` : `DNS:${host}`)).join(',');
      await writeFile(`${base}.ext`, `subjectAltName=${names}\n`);
      const leaf = [
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-subj',
        '/CN=endpoint',
      ];
      await run('openssl', ['req', ...leaf, '-keyout', keyFile, '-out', `${base}.csr`]);
      const signer = [
        '-CA',
        caFile,
        '-CAkey',
        caKey,
        '-CAcreateserial',
        '-extfile',
        `${base}.ext`,
        '-days',
        '7',
      ];
      await run('openssl', ['x509', '-req', '-in', `${base}.csr`, ...signer, '-out', certFile]);
      const [certPem, keyPem] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
      return { certPem, keyPem, certFile, keyFile };
    },
  };
}
