import type { IssuedCertificate } from '@webhooks/local';
import { createCipheriv, createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { SecureContextOptions } from 'node:tls';
import { sharedAuthority } from './test-authority.js';

/**
 * The ways in which a host costs its clients CPU time. `dhe`: a Diffie-Hellman exchange of 10,000 bits. `chain`: forty signatures with RSA
 * exponents of 3,071 bits. The others send TLS 1.3 records in place of a response: tickets or key updates without an end, 700 key updates
 * and then a response, or a response in records of one byte.
 */
export const COSTS = [
  'dhe',
  'chain',
  'tickets',
  'key-updates',
  'answered-key-updates',
  'tiny-records',
] as const;
export type Cost = (typeof COSTS)[number];

type Pair = Pick<IssuedCertificate, 'certPem' | 'keyPem'>;

/** Loaded on demand, because most users of testkit do not need it. `@peculiar/x509` requires `reflect-metadata` first. */
async function loadX509() {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

/** DER: a number of 1,250 bytes, odd and positive, but no prime, and the generator 2. */
const DH_PARAMETERS = Buffer.concat([
  Buffer.from('308204e9028204e2', 'hex'),
  Buffer.alloc(1_250, 0x5b),
  Buffer.from('020102', 'hex'),
]);
const RSA_BYTES = 384;

const numberOf = (byte: number): string => Buffer.alloc(RSA_BYTES, byte).toString('base64url');

/** A certificate with a wrong signature. Checking it takes as long as checking a right one. */
async function certificate(subject: string, issuer: string, publicKey: KeyObject): Promise<string> {
  const { X509CertificateGenerator } = await loadX509();
  const made = await X509CertificateGenerator.create({
    subject: `CN=${subject}`,
    issuer: `CN=${issuer}`,
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
    signingAlgorithm: { name: 'RSASSA-PKCS1-v1_5' },
    signature: Buffer.alloc(RSA_BYTES),
  });
  return made.toString('pem');
}

/** A certificate with a new key, and a chain of `issuers` further certificates. */
async function chainOf(issuers: number): Promise<SecureContextOptions> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const jwk = { kty: 'RSA', n: numberOf(0xdb), e: numberOf(0x5b) };
  const slow = createPublicKey({ key: jwk, format: 'jwk' });
  const rest = Array.from({ length: issuers }, (_, at) => certificate(`${at}`, `${at + 1}`, slow));
  const chain = await Promise.all([certificate('localhost', '0', publicKey), ...rest]);
  return { cert: chain.join('\n'), key: privateKey.export({ type: 'pkcs8', format: 'pem' }) };
}

async function tlsOptionsOf(cost: Cost, pair: Pair | undefined): Promise<SecureContextOptions> {
  if (cost === 'chain') return chainOf(39);
  if (cost === 'dhe')
    return {
      ...(await chainOf(0)),
      dhparam: (await loadX509()).PemConverter.encode(DH_PARAMETERS, 'DH PARAMETERS'),
      maxVersion: 'TLSv1.2',
      ciphers: 'DHE-RSA-AES128-GCM-SHA256',
    };
  const { certPem: cert, keyPem: key } = pair ?? (await (await sharedAuthority()).issue(['localhost']));
  return { cert, key, minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' };
}

/** `HKDF-Expand-Label` of 32 bytes at most (RFC 8446 §7.1). */
const expand = (secret: Buffer, label: string, bytes: number): Buffer => {
  const head = Buffer.from([0, bytes, label.length + 6]);
  const info = Buffer.concat([head, Buffer.from(`tls13 ${label}\0\x01`)]);
  return createHmac('sha256', secret).update(info).digest().subarray(0, bytes);
};

const HANDSHAKE = 0x16;
const APPLICATION_DATA = 0x17;

/** Encrypts a record with this sequence number (RFC 8446 §5.2). */
function seal(secret: Buffer, sequence: number, type: number, content: Buffer): Buffer {
  const iv = expand(secret, 'iv', 12);
  iv.writeUInt32BE((iv.readUInt32BE(8) ^ sequence) >>> 0, 8);
  const length = content.length + 17;
  const head = Buffer.from([APPLICATION_DATA, 3, 3, length >> 8, length & 255]);
  const cipher = createCipheriv('aes-128-gcm', expand(secret, 'key', 16), iv).setAAD(head);
  const body = cipher.update(Buffer.concat([content, Buffer.of(type)]));
  return Buffer.concat([head, body, cipher.final(), cipher.getAuthTag()]);
}

const TICKETS = Buffer.from(`0400000e${'00'.repeat(10)}01410000`.repeat(900), 'hex');
const KEY_UPDATE = Buffer.from('1800000100', 'hex');
const RESPONSE = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n${'x'.repeat(60_000)}`);
const SHORT_RESPONSE = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
/** Number of key updates before the response. */
const FEW_UPDATES = 700;
/** Records that OpenSSL has sent before: two tickets, each in a record. */
const OWN_RECORDS = 2;

/** Yields the records that are sent in place of a response. */
function* floodOf(cost: Cost, secret: Buffer): Generator<Buffer, undefined> {
  let sequence = OWN_RECORDS;
  if (cost === 'tiny-records')
    for (const byte of RESPONSE) yield seal(secret, sequence++, APPLICATION_DATA, Buffer.of(byte));
  else if (cost === 'tickets') for (;;) yield seal(secret, sequence++, HANDSHAKE, TICKETS);
  else
    for (const updates: Buffer[] = []; updates.length < FEW_UPDATES; sequence = 0) {
      const update = seal(secret, sequence, HANDSHAKE, KEY_UPDATE);
      secret = expand(secret, 'traffic upd', 32);
      if (cost === 'key-updates') yield update;
      else if (updates.push(update) === FEW_UPDATES)
        yield Buffer.concat([...updates, seal(secret, 0, APPLICATION_DATA, SHORT_RESPONSE)]);
    }
}

/** Writes records as fast as the client reads them, one in each turn of the event loop. */
function pour(tcp: Socket, records: Generator<Buffer, undefined>): void {
  const { done, value } = records.next();
  if (done !== true && tcp.writable) tcp.write(value, (error) => error ?? setImmediate(pour, tcp, records));
}

/**
 * Starts a host on a free port that costs its clients CPU time. `pair`: its certificate, except for `dhe` and `chain`; default: one of the
 * shared test authority.
 */
export async function startCostlyHost(cost: Cost, pair?: Pair) {
  const secureContext = createSecureContext(await tlsOptionsOf(cost, pair));
  const open: Socket[] = [];
  const server = createServer((tcp) => {
    open.push(tcp);
    const tls = new TLSSocket(tcp, { isServer: true, secureContext });
    for (const socket of [tcp, tls]) socket.on('error', () => undefined);
    let secret = Buffer.alloc(0);
    tls.on('keylog', (line: Buffer) => {
      const [label, , hex = ''] = line.toString().trim().split(' ');
      if (label === 'SERVER_TRAFFIC_SECRET_0') secret = Buffer.from(hex, 'hex');
    });
    // OpenSSL sends its tickets in this turn, so the flood begins in the next one.
    tls.once('data', () => setImmediate(() => pour(tcp, floodOf(cost, secret))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `https://localhost:${port}`,
    stats: () => ({ connections: open.length }),
    close: async () => {
      for (const tcp of open) tcp.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
export type CostlyHost = Awaited<ReturnType<typeof startCostlyHost>>;
