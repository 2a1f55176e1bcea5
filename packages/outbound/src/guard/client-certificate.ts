import { createPrivateKey, hash, X509Certificate, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { ClientPair } from '@webhooks/contracts';
import type { EndpointCertificate } from '../pool/exchange.js';
import { addGauge, repeatUntilClose, type ServiceScope } from '@webhooks/runtime';

/** A client certificate, presented when an endpoint requests one, and the files it was read from. */
export interface ClientCertificate extends ClientPair {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly expiresAt: Date;
}

function readOrThrow<T>(expected: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`expected ${expected}`, { cause });
  }
}

/** A key without a password, in PKCS #8 or its type's own form. */
const KEY_PEM = /-----BEGIN (RSA |EC |)PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END \1PRIVATE KEY-----/;
/** DER prefix of the RSA algorithm, and of EC with a named curve (RFC 5480 §2.1.1), in hexadecimal. */
const RSA = /^06092a864886f70d010101/;
const EC = /^06072a8648ce3d020106/;

/** Returns the contents of the elements of a DER sequence. Throws when an element is cut off. */
function* elementsOf(der: Buffer): Generator<Buffer> {
  for (let at = 0; at < der.length;) {
    const first = der.readUInt8(at + 1);
    const from = at + 2 + Math.max(0, first - 128);
    const end = from + (first < 128 ? first : der.readUIntBE(at + 2, first - 128));
    if (end > der.length) throw new RangeError('expected whole elements');
    yield der.subarray(from, end);
    at = end;
  }
}

const sequenceOf = (der: Buffer): readonly Buffer[] => [...elementsOf([...elementsOf(der)][0] ?? der)];

/**
 * Whether an RSA key has small numbers (RFC 8017 §A.1.2): an exponent of at most 64 bits, and factors half as long
 * as the modulus.
 */
function isQuickRsa(der: Buffer): boolean {
  const [, { length: modulus } = der, e = der, d = der, ...parts] = sequenceOf(der);
  const areHalves = parts.length === 5 && parts.every(({ length }) => 2 * length <= modulus + 1);
  return areHalves && e.length <= 9 && d.length <= modulus;
}

/** Whether an EC key has a short private number and only a named curve (RFC 5915). */
function isQuickEc(der: Buffer): boolean {
  const [, secret = der, ...rest] = sequenceOf(der);
  return secret.length <= 66 && rest.every((element) => element[0] !== 0x30);
}

/** Whether the key signs within milliseconds. `form`: the type in the PEM label; empty for PKCS #8 (RFC 5208 §5). */
function isQuick(form: string, der: Buffer): boolean {
  if (form !== '') return form === 'RSA ' ? isQuickRsa(der) : isQuickEc(der);
  const [, algorithm = der, key = der] = sequenceOf(der);
  const name = algorithm.toString('hex');
  return (RSA.test(name) && isQuickRsa(key)) || (EC.test(name) && isQuickEc(key));
}

/**
 * Reads a key that signs fast. For a DSA key of 28,000 bits, whatever its label, OpenSSL would compute the public
 * key for 13 s.
 */
function readKey(pem: string): KeyObject {
  const [, form = '', base64 = ''] = KEY_PEM.exec(pem) ?? [];
  const isOnly = pem.match(/PRIVATE KEY-----/g)?.length === 2;
  if (isOnly && isQuick(form, Buffer.from(base64, 'base64'))) return createPrivateKey(pem);
  throw new Error('another number or type of keys');
}

/**
 * Longest RSA key, bits. The signature of each handshake blocks the event loop for 4 ms; with twice the bits for 24
 * ms.
 */
const MAX_RSA_BITS = 4_096;

/**
 * Whether all receivers accept such a key. OpenSSL's level 2 refuses shorter RSA keys, and many servers refuse other
 * curves.
 */
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
  // An unparsable time is NaN, which fails the comparison. `validToDate` would accept any time.
  if (!(from <= now && (allowExpired ? from : now) < to))
    throw new Error(`expected a certificate that is valid now, got one from ${validFrom} to ${validTo}`);
}

/**
 * Checks a pair and returns its certificate. Throws with the reason when no receiver would accept the pair, or its
 * key would sign too slowly. Reasons: no PEM, a truncated chain, a key of another certificate, a weak or an overlong
 * key, a certificate for other uses, or one that is not valid now. `allowExpired` accepts an expired one. The
 * message contains no part of the pair.
 */
export function checkClientCertificate(
  { certificate: chain, key }: ClientPair,
  allowExpired = false,
): X509Certificate {
  const certificate = readOrThrow('a certificate as PEM', () => new X509Certificate(chain));
  const privateKey = readOrThrow('a private key as PEM, of RSA or EC and without a password', () =>
    readKey(key),
  );
  if (!certificate.checkPrivateKey(privateKey))
    throw new Error('expected the key of the certificate, got another one');
  if (!isUsable(privateKey))
    throw new Error('expected a key of RSA with 2,048 to 4,096 bits, or of EC P-256 or P-384');
  // Checks the other certificates of the chain.
  readOrThrow('whole certificates as PEM that TLS takes', () => createSecureContext({ cert: chain, key }));
  // A certificate without an extended key usage is valid for any use.
  const uses = certificate.keyUsage as readonly string[] | undefined;
  if (uses?.every((use) => !CLIENT_USE.includes(use)))
    throw new Error(
      'expected a certificate for client use, got one whose extended key usage lacks clientAuth',
    );
  checkValidity(certificate, allowExpired);
  return certificate;
}

/** Reads and checks a pair of files. Throws as `checkClientCertificate` does, and when a file cannot be read. */
export function readClientCertificate(
  { certificateFile, keyFile }: Pick<ClientCertificate, 'certificateFile' | 'keyFile'>,
  allowExpired = false,
): ClientCertificate {
  const pair = { certificate: readFileSync(certificateFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  const { validToDate: expiresAt } = checkClientCertificate(pair, allowExpired);
  return { certificateFile, keyFile, ...pair, expiresAt };
}

/**
 * Prepares an endpoint's pair. The fingerprint covers the key too: without it, a tenant that registers another
 * tenant's certificate with a different key would share that tenant's connections.
 */
export function toEndpointCertificate({ certificate, key }: ClientPair): EndpointCertificate {
  // Checked again, because an earlier version may have accepted other keys.
  readOrThrow('a private key that signs fast', () => readKey(key));
  return { certificate, key, fingerprint: hash('sha256', `${certificate}\n${key}`) };
}

/** A renewed pair is used within a minute, even if some reads find half-written files. Milliseconds. */
const CHECK_EVERY_MS = 10_000;

/**
 * Presents a renewed pair of the files. They are read every 10 s, because a file watcher does not notice replaced
 * symlinks. An invalid pair is refused, and the previous one remains in use.
 */
export function watchClientCertificate(
  first: ClientCertificate,
  sender: { present(certificate: ClientCertificate): void },
  scope: Pick<ServiceScope, 'registry' | 'log' | 'onClose'>,
  everyMs = CHECK_EVERY_MS,
): void {
  let presented = first;
  let refused = 0;
  const work = (): void => {
    refused = 1;
    const found = readClientCertificate(presented);
    if (found.certificate !== presented.certificate) {
      sender.present(found);
      presented = found;
      scope.log.info('the client certificate was renewed', { expiresAt: found.expiresAt.toISOString() });
    }
    refused = 0;
  };
  const end = 'When the client certificate expires, Unix time';
  const endSeconds = (): number => presented.expiresAt.getTime() / 1_000;
  addGauge(scope.registry, 'webhook_client_certificate_expiry_timestamp_seconds', end, endSeconds);
  const fault = '1 while the files of the client certificate hold a pair that is refused';
  addGauge(scope.registry, 'webhook_client_certificate_refused', fault, () => refused);
  repeatUntilClose({ name: 'renewing the client certificate', everyMs, work }, scope);
}
