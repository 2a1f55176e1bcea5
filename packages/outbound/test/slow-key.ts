import { generateKeyPairSync } from 'node:crypto';

const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  const length = Buffer.from([0x82, content.byteLength >> 8, content.byteLength & 255]);
  return Buffer.concat([Buffer.from([tag]), length, content]);
};
const number = (bytes: number): Buffer => der(2, Buffer.alloc(bytes, 0x5b));

export const pemBlock = (label: string, bytes: Buffer): string => {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
};

/** DSA of 16,000 bits as PKCS #8: OpenSSL computes its public key, for two seconds, under the label of RSA or EC, too. */
export function slowKey(type: '' | 'RSA ' | 'EC ' = ''): string {
  const algorithm = der(
    0x30,
    Buffer.from('06072a8648ce380401', 'hex'),
    der(0x30, number(2_000), number(32), number(2_000)),
  );
  const version = Buffer.from([2, 1, 0]);
  return pemBlock(`${type}PRIVATE KEY`, der(0x30, version, algorithm, der(4, number(2_000))));
}

/** A key of RSA with 2,048 bits whose two factors are as long as its modulus: each signature takes nine times as long. */
export function longFactors(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const { n = '', e = '', d = '' } = privateKey.export({ format: 'jwk' });
  const numbers = [n, e, d].map((text) => der(2, Buffer.alloc(1), Buffer.from(text, 'base64url')));
  return pemBlock(
    'RSA PRIVATE KEY',
    der(0x30, Buffer.from([2, 1, 0]), ...numbers, ...Array<Buffer>(5).fill(number(256))),
  );
}
