import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

export interface ClientCertificateFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** What connections present to an endpoint that requests a certificate, and where it was read. */
export interface ClientCertificate extends ClientCertificateFiles {
  /** The chain, the certificate itself first. */
  readonly certPem: string;
  readonly keyPem: string;
  readonly expiresAt: Date;
}

/**
 * Throws with the reason when no receiver would take it: files that cannot be read or are no PEM, a chain that is cut off, a key
 * of another certificate, a certificate that is not valid now. The message holds nothing of either.
 */
export function readClientCertificate({
  certificateFile,
  keyFile,
}: ClientCertificateFiles): ClientCertificate {
  const certPem = readFileSync(certificateFile, 'utf8');
  const keyPem = readFileSync(keyFile, 'utf8');
  const certificate = new X509Certificate(certPem);
  if (!certificate.checkPrivateKey(createPrivateKey(keyPem)))
    throw new Error('expected the key of the certificate, got another one');
  // Looks at the rest of the chain too.
  createSecureContext({ cert: certPem, key: keyPem });
  const { validFromDate, validToDate: expiresAt } = certificate;
  const now = new Date();
  if (now < validFromDate || now >= expiresAt) {
    const period = `from ${validFromDate.toISOString()} to ${expiresAt.toISOString()}`;
    throw new Error(`expected a certificate that is valid now, got one that is valid ${period}`);
  }
  return { certificateFile, keyFile, certPem, keyPem, expiresAt };
}
