import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { post, Rig } from './rig.js';

const rig = new Rig();
afterEach(() => rig.close());

const WEAK = { ciphers: 'DEFAULT@SECLEVEL=0' };

/** A certificate for `localhost` that is its own authority, made with these options of `openssl req`. */
async function certificate(options: readonly string[]) {
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

const NAMED = ['-addext', 'subjectAltName=DNS:localhost'];

it.each([
  ['RSA of 1,024 bits', ['-newkey', 'rsa:1024', ...NAMED], /KEY_TOO_SMALL$|^UNSPECIFIED$/],
  ['a name in its subject alone', ['-newkey', 'rsa:2048'], /^ERR_TLS_CERT_ALTNAME_INVALID$/],
])('a certificate with %s is a fault of TLS', async (_, options, code) => {
  const { caFile, certPem, keyPem } = await certificate(options);
  const endpoint = await rig.endpoint({ certPem, keyPem, tls: WEAK });
  const sender = rig.sender(endpoint, { extraCaFile: caFile });
  expect(await post(sender, `https://localhost:${endpoint.port}`)).toMatchObject({
    ...{ kind: 'unreachable', error: 'TLS' },
    code: expect.stringMatching(code) as string,
  });
  expect(endpoint.stats().arrivals).toBe(0);
});
