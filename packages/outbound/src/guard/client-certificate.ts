import { createPrivateKey, hash, X509Certificate, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { ClientPair } from '@webhooks/contracts';
import type { EndpointCertificate } from '../pool/exchange.js';
import { addGauge, repeat, type ServiceScope } from '@webhooks/runtime';

/** What connections present to an endpoint that requests a certificate, and where it was read. */
export interface ClientCertificate extends ClientPair {
  readonly certificateFile: string;
  readonly keyFile: string;
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
/** DER of the algorithm RSA, and of EC with a curve that is named (RFC 5480 §2.1.1), in hexadecimal digits. */
const RSA = /^06092a864886f70d010101/;
const EC = /^06072a8648ce3d020106/;

/** The contents of the elements of a DER sequence. Throws when one is cut off. */
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

/** Whether a key has short numbers (RFC 8017 §A.1.2): an exponent of at most 64 bits, and factors half as long as the modulus. */
function isQuickRsa(der: Buffer): boolean {
  const [, { length: modulus } = der, e = der, d = der, ...parts] = sequenceOf(der);
  const areHalves = parts.length === 5 && parts.every(({ length }) => 2 * length <= modulus + 1);
  return areHalves && e.length <= 9 && d.length <= modulus;
}

/** Whether a key has a short secret number and no curve of its own (RFC 5915). */
function isQuickEc(der: Buffer): boolean {
  const [, secret = der, ...rest] = sequenceOf(der);
  return secret.length <= 66 && rest.every((element) => element[0] !== 0x30);
}

/** Whether a signature with the key is quick. `form`: the label of the key's type; empty for PKCS #8 (RFC 5208 §5). */
function isQuick(form: string, der: Buffer): boolean {
  if (form !== '') return form === 'RSA ' ? isQuickRsa(der) : isQuickEc(der);
  const [, algorithm = der, key = der] = sequenceOf(der);
  const name = algorithm.toString('hex');
  return (RSA.test(name) && isQuickRsa(key)) || (EC.test(name) && isQuickEc(key));
}

/** Reads only quick keys. OpenSSL would compute the public key of a DSA key for 13 s (28,000 bits), whatever its label says. */
function readKey(pem: string): KeyObject {
  const [, form = '', base64 = ''] = KEY_PEM.exec(pem) ?? [];
  const isOnly = pem.match(/PRIVATE KEY-----/g)?.length === 2;
  if (isOnly && isQuick(form, Buffer.from(base64, 'base64'))) return createPrivateKey(pem);
  throw new Error('another number or type of keys');
}

/** A signature of each handshake blocks the event loop for 4 ms; with twice as many bits for 24 ms. */
const MAX_RSA_BITS = 4_096;

/** Whether all receivers accept such a key. OpenSSL's level 2 refuses fewer bits of RSA, and many servers refuse other curves. */
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
  // A time that cannot be parsed is NaN, which fails the comparison. `validToDate` would be any time.
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
  // Checks the rest of the chain too.
  expecting('whole certificates as PEM that TLS takes', () => createSecureContext({ cert: chain, key }));
  // Without key usage it is for any use.
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
  { certificateFile, keyFile }: Pick<ClientCertificate, 'certificateFile' | 'keyFile'>,
  allowExpired = false,
): ClientCertificate {
  const pair = { certificate: readFileSync(certificateFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  const { validToDate: expiresAt } = checkClientCertificate(pair, allowExpired);
  return { certificateFile, keyFile, ...pair, expiresAt };
}

/** The fingerprint covers the key too. Another tenant's certificate without its key must not get that tenant's connections. */
export function toEndpointCertificate({ certificate, key }: ClientPair): EndpointCertificate {
  // It may have been registered when more was allowed.
  expecting('a private key that is quick', () => readKey(key));
  return { certificate, key, fingerprint: hash('sha256', `${certificate}\n${key}`) };
}

/** A renewed pair is in use within a minute, even if some reads meet files that are being written. */
const LOOK_EVERY_MS = 10_000;

/**
 * Presents a renewed pair of the files. They are read every 10 s, because a file watcher does not notice swapped symlinks. A broken pair
 * is refused, and the one before stays.
 */
export function watchClientCertificate(
  first: ClientCertificate,
  sender: { present(certificate: ClientCertificate): void },
  { registry, log, onClose }: Pick<ServiceScope, 'registry' | 'log' | 'onClose'>,
  everyMs = LOOK_EVERY_MS,
): void {
  let presented = first;
  let refused = 0;
  const look = (): Promise<void> => {
    refused = 1;
    const found = readClientCertificate(presented);
    if (found.certificate !== presented.certificate) {
      sender.present(found);
      presented = found;
      log.info('the client certificate was renewed', { expiresAt: found.expiresAt.toISOString() });
    }
    refused = 0;
    return Promise.resolve();
  };
  const end = 'When the client certificate expires, Unix time';
  const endSeconds = (): number => presented.expiresAt.getTime() / 1_000;
  addGauge(registry, 'webhook_client_certificate_expiry_timestamp_seconds', end, endSeconds);
  const fault = '1 while the files of the client certificate hold a pair that is refused';
  addGauge(registry, 'webhook_client_certificate_refused', fault, () => refused);
  const watch = repeat({ name: 'renewing the client certificate', everyMs, work: look, log });
  onClose('client certificate', () => watch.stop());
}
