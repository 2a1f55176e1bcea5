import { createPrivateKey, hash, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { ClientPair, EndpointCertificate } from './send-request.js';

export interface ClientCertificateFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** What connections present to an endpoint that requests a certificate, and where it was read. */
export interface ClientCertificate extends ClientCertificateFiles, ClientPair {
  readonly expiresAt: Date;
}

function expecting<T>(expected: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`expected ${expected}`, { cause });
  }
}

/** A key without a password, as PKCS #8 or in the form of its type. */
const KEY_PEM = /-----BEGIN (RSA |EC |)PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END \1PRIVATE KEY-----/;
/** How PKCS #8 begins for RSA and for EC (RFC 5208 §5), in hexadecimal digits. */
const RSA_OR_EC = /^30(81..|82....|[0-7].)02010030..06(092a864886f70d010101|072a8648ce3d0201)/;

/** Reads no key of another type: OpenSSL computes its public key, which takes 13 s for DSA of 28,000 bits, and nobody is served. */
function readKey(pem: string): KeyObject {
  const [, form, base64 = ''] = KEY_PEM.exec(pem) ?? [];
  const isOnly = pem.match(/PRIVATE KEY-----/g)?.length === 2;
  if (isOnly && (form || RSA_OR_EC.test(Buffer.from(base64, 'base64').toString('hex'))))
    return createPrivateKey(pem);
  throw new Error('another number or type of keys');
}

/** A signature takes 4 ms, 24 ms with twice as many: of each handshake, and of everybody's event loop. */
const MAX_RSA_BITS = 4_096;

/** What receivers accept of a client everywhere: fewer bits of RSA fail at OpenSSL's level 2, other curves at many servers. */
const isUsable = ({
  asymmetricKeyType,
  asymmetricKeyDetails: { modulusLength = 0, namedCurve = '' } = {},
}: KeyObject): boolean =>
  asymmetricKeyType === 'rsa'
    ? modulusLength >= 2_048 && modulusLength <= MAX_RSA_BITS
    : /^(prime256v1|secp384r1)$/.test(namedCurve);

/** `clientAuth` and `anyExtendedKeyUsage` (RFC 5280 §4.2.1.12). */
const CLIENT_USE: readonly string[] = ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0'];

function checkValidity(certificate: X509Certificate, allowExpired: boolean): void {
  const { validFrom, validTo } = certificate;
  const [from, to, now] = [Date.parse(validFrom), Date.parse(validTo), Date.now()];
  // Of a time that cannot be read `validToDate` is any time; the parsed one is neither before nor after another.
  if (!(from <= now && (allowExpired ? from : now) < to))
    throw new Error(`expected a certificate that is valid now, got one from ${validFrom} to ${validTo}`);
}

/**
 * The certificate of a pair. Throws with the reason when no receiver would take it, or it would cost the others: no PEM, a chain
 * that is cut off, a key of another certificate, a weak or an overlong key, a certificate that is not valid now (`allowExpired`: not
 * yet) or not for clients. The message is ours, and holds nothing of either.
 */
export function checkClientCertificate(
  { certificate: chain, key }: ClientPair,
  allowExpired = false,
): X509Certificate {
  const certificate = expecting('a certificate as PEM', () => new X509Certificate(chain));
  const privateKey = expecting('a private key as PEM, of RSA or EC and without a password', () =>
    readKey(key),
  );
  if (!certificate.checkPrivateKey(privateKey))
    throw new Error('expected the key of the certificate, got another one');
  if (!isUsable(privateKey))
    throw new Error('expected a key of RSA with 2,048 to 4,096 bits, or of EC P-256 or P-384');
  // Looks at the rest of the chain too.
  expecting('whole certificates as PEM that TLS takes', () => createSecureContext({ cert: chain, key }));
  // Absent: for any use.
  const uses = certificate.keyUsage as readonly string[] | undefined;
  if (uses?.every((use) => !CLIENT_USE.includes(use)))
    throw new Error(
      'expected a certificate for client use, got one whose extended key usage lacks clientAuth',
    );
  checkValidity(certificate, allowExpired);
  return certificate;
}

/** Throws as `checkClientCertificate` does, and for files that cannot be read. */
export function readClientCertificate(
  { certificateFile, keyFile }: ClientCertificateFiles,
  allowExpired = false,
): ClientCertificate {
  const pair = { certificate: readFileSync(certificateFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  const { validToDate: expiresAt } = checkClientCertificate(pair, allowExpired);
  return { certificateFile, keyFile, ...pair, expiresAt };
}

/** Of the key too: whoever brings another's certificate without its key must not get that one's connections. */
export const toEndpointCertificate = ({ certificate, key }: ClientPair): EndpointCertificate => ({
  certificate,
  key,
  fingerprint: hash('sha256', `${certificate}\n${key}`),
});
