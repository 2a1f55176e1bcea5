import 'reflect-metadata'; // @peculiar/x509 requires that it is imported first
import * as x509 from '@peculiar/x509';
import { isIP } from 'node:net';

const KEY = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const;

export interface PemPair {
  readonly certPem: string;
  readonly keyPem: string;
}

interface CertificateOptions {
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The authority that signs; default: self-signed. */
  readonly authority?: PemPair;
}

/**
 * Creates a certificate authority: an ECDSA P-256 key, and a certificate that may sign others. `pathLength`: the maximum number of
 * intermediate authorities below it, default 0.
 */
export function makeAuthority(name: string, options: CertificateOptions, pathLength = 0): Promise<PemPair> {
  return makePair(`CN=${name}`, options, [
    new x509.BasicConstraintsExtension(true, pathLength, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
  ]);
}

/** Creates a certificate for servers and clients. `hosts`: its subject alternative names, DNS names and IP addresses. */
export function makeLeaf(hosts: readonly string[], options: CertificateOptions): Promise<PemPair> {
  return makePair(`CN=${hosts[0] ?? 'localhost'}`, options, [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
    new x509.SubjectAlternativeNameExtension(
      hosts.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
    ),
  ]);
}

async function makePair(
  subject: string,
  { authority, notBefore, notAfter }: CertificateOptions,
  extensions: readonly x509.Extension[],
): Promise<PemPair> {
  const keys = await crypto.subtle.generateKey(KEY, true, ['sign', 'verify']);
  const signer = authority ? await readAuthority(authority) : undefined;
  const certificate = await x509.X509CertificateGenerator.create({
    ...{ notBefore, notAfter, subject, issuer: signer?.certificate.subject ?? subject },
    publicKey: keys.publicKey,
    signingKey: signer?.key ?? keys.privateKey,
    signingAlgorithm: SIGNATURE,
    extensions: [
      ...extensions,
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ...(signer ? [await x509.AuthorityKeyIdentifierExtension.create(signer.certificate)] : []),
    ],
  });
  const keyBytes = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    certPem: `${certificate.toString('pem')}\n`,
    keyPem: `${x509.PemConverter.encode(keyBytes, 'PRIVATE KEY')}\n`,
  };
}

async function readAuthority({ certPem, keyPem }: PemPair) {
  const certificate = new x509.X509Certificate(certPem);
  const [keyBytes] = x509.PemConverter.decode(keyPem);
  if (keyBytes === undefined) throw new Error('expected a private key in PEM');
  const key = await crypto.subtle.importKey('pkcs8', keyBytes, KEY, false, ['sign']);
  return { certificate, key };
}
