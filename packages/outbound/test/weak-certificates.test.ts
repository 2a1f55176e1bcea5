import { selfSigned } from './client-certificates.js';
import { post, Rig } from './rig.js';

const rig = new Rig();
afterEach(() => rig.close());

const WEAK = { ciphers: 'DEFAULT@SECLEVEL=0' };

const NAMED = ['-addext', 'subjectAltName=DNS:localhost'];

it.each([
  ['RSA of 1,024 bits', ['-newkey', 'rsa:1024', ...NAMED], /KEY_TOO_SMALL$|^UNSPECIFIED$/],
  ['a name in its subject alone', ['-newkey', 'rsa:2048'], /^ERR_TLS_CERT_ALTNAME_INVALID$/],
])('a certificate with %s is a fault of TLS', async (_, options, code) => {
  const { caFile, certPem, keyPem } = await selfSigned(options);
  const endpoint = await rig.endpoint({ certPem, keyPem, tls: WEAK });
  const sender = rig.sender(endpoint, { extraCaFile: caFile });
  expect(await post(sender, `https://localhost:${endpoint.port}`)).toMatchObject({
    ...{ kind: 'unreachable', error: 'TLS' },
    code: expect.stringMatching(code) as string,
  });
  expect(endpoint.stats().arrivals).toBe(0);
});
