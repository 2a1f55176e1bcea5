import { constants } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, getCACertificates } from 'node:tls';
import type { SecureContext } from 'node:tls';
import type { ClientPair } from './send-request.js';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * What connections present, if anything, and check: once for each certificate, not for each connection. With an extra file each
 * has a store of its own, which takes 8 ms and 1.3 MiB; without one they share Node's.
 */
export type CreateContext = (client?: ClientPair) => SecureContext;

/**
 * What an endpoint's certificate is checked against: the roots that Node trusts by default, and those of the extra file
 * (PEM, one or more certificates). Throws when the file cannot be read or holds no certificate.
 */
export function openTrust(extraCaFile?: string): CreateContext {
  const ca =
    extraCaFile === undefined
      ? undefined
      : [...getCACertificates('default'), ...readCertificates(extraCaFile)];
  return (client) =>
    createSecureContext({
      ca,
      ...(client ? { cert: client.certPem, key: client.keyPem } : {}),
      minVersion: 'TLSv1.2',
      // Each costs as much as a handshake, and the endpoint would say how many. Node's `disableRenegotiation` is for servers.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    });
}

function readCertificates(file: string): readonly string[] {
  const certificates = readFileSync(file, 'utf8').match(CERTIFICATE) ?? [];
  if (certificates.length === 0) {
    throw new Error(`expected one or more PEM certificates in the extra authority file ${file}, found none`);
  }
  return certificates;
}
