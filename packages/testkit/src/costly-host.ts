import type { KeyPairKeyObjectResult } from 'node:crypto';
import { createCipheriv, createHmac, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TlsOptions, TLSSocket } from 'node:tls';
import { sharedAuthority } from './test-authority.js';

/**
 * What a host makes whoever connects to it compute: a Diffie-Hellman exchange of 10,000 bits, forty signatures with RSA exponents of 3,071
 * bits, or a flood of TLS 1.3 tickets, key updates or records of one byte in place of a response. None of them has a certificate of an authority but the last three.
 */
export const COSTS = ['dhe', 'chain', 'tickets', 'key-updates', 'tiny-records'] as const;
export type Cost = (typeof COSTS)[number];

interface Pair {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface CostlyHost {
  readonly origin: string;
  readonly stats: () => { readonly connections: number };
  readonly close: () => Promise<void>;
}

/** DER with two bytes of length. */
const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, 0x82, content.length >> 8, content.length & 255]), content]);
};
/** A number of so many bytes, odd and positive, that needs to be no prime. */
const oddNumber = (bytes: number, first = 0x5b): Buffer => {
  const value = Buffer.alloc(bytes, 0x5b);
  value[0] = first;
  return der(2, first > 127 ? Buffer.concat([Buffer.alloc(1), value]) : value);
};
const pem = (label: string, bytes: Buffer): string => {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
};

const SHA256_RSA = Buffer.from('300d06092a864886f70d01010b0500', 'hex');
const RSA = Buffer.from('300d06092a864886f70d0101010500', 'hex');
const GENERATOR = Buffer.from([2, 1, 2]);
const RSA_BYTES = 384;

const nameOf = (text: string): Buffer =>
  der(0x30, der(0x31, der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from(text)))));

/** Its signature is wrong, which takes as long to find out. */
function certificate(subject: string, issuer: string, publicKey: Buffer): string {
  const validity = der(
    0x30,
    der(0x17, Buffer.from('200101000000Z')),
    der(0x17, Buffer.from('490101000000Z')),
  );
  const names = [SHA256_RSA, nameOf(issuer), validity, nameOf(subject)];
  const body = der(0x30, Buffer.from([2, 1, 1]), ...names, publicKey);
  const signature = der(3, Buffer.alloc(1), Buffer.alloc(RSA_BYTES, 0x5b));
  return pem('CERTIFICATE', der(0x30, body, SHA256_RSA, signature));
}

/** A chain of so many certificates, of which the first has this key. */
function chainOf(issuers: number, { privateKey, publicKey }: KeyPairKeyObjectResult) {
  const key = der(0x30, oddNumber(RSA_BYTES, 0xdb), oddNumber(RSA_BYTES));
  const issuerKey = der(0x30, RSA, der(3, Buffer.alloc(1), key));
  const leaf = certificate('localhost', '0', publicKey.export({ type: 'spki', format: 'der' }));
  const rest = Array.from({ length: issuers }, (_, at) => certificate(`${at}`, `${at + 1}`, issuerKey));
  return { cert: [leaf, ...rest].join(''), key: privateKey.export({ type: 'pkcs8', format: 'pem' }) };
}

/** `HKDF-Expand-Label` of 32 bytes at most (RFC 8446 §7.1). */
const expand = (secret: Buffer, label: string, bytes: number): Buffer => {
  const info = Buffer.concat([
    Buffer.from([0, bytes, label.length + 6]),
    Buffer.from(`tls13 ${label}\0\x01`),
  ]);
  return createHmac('sha256', secret).update(info).digest().subarray(0, bytes);
};

/** A record of a handshake message, behind so many records with the same secret (RFC 8446 §5.2). */
function sealed(secret: Buffer, behind: number, message: Buffer): Buffer {
  const iv = expand(secret, 'iv', 12);
  iv.writeUInt32BE((iv.readUInt32BE(8) ^ behind) >>> 0, 8);
  const length = message.length + 17;
  const head = Buffer.from([0x17, 3, 3, length >> 8, length & 255]);
  const cipher = createCipheriv('aes-128-gcm', expand(secret, 'key', 16), iv).setAAD(head);
  const body = [cipher.update(Buffer.concat([message, Buffer.from([0x16])])), cipher.final()];
  return Buffer.concat([head, ...body, cipher.getAuthTag()]);
}

const TICKETS = Buffer.concat(
  Array<Buffer>(900).fill(Buffer.from(`0400000e${'00'.repeat(10)}01410000`, 'hex')),
);
const KEY_UPDATE = Buffer.from('1800000100', 'hex');
/** OpenSSL sends two tickets of its own, each in a record, soon after the handshake. */
const OWN_RECORDS = 2;
const OWN_RECORDS_MS = 50;

/** What comes in place of a response, a piece at a time. */
function* floodOf(cost: 'tickets' | 'key-updates', first: Buffer): Generator<Buffer> {
  let secret = first;
  for (let behind = OWN_RECORDS; ; behind += 1) {
    if (cost === 'tickets') yield sealed(secret, behind, TICKETS);
    else {
      const updates: Buffer[] = [];
      for (let count = 0; count < 1_000; count += 1) {
        updates.push(sealed(secret, behind, KEY_UPDATE));
        secret = expand(secret, 'traffic upd', 32);
        behind = 0;
      }
      behind = -1;
      yield Buffer.concat(updates);
    }
  }
}

/** Writes as fast as it is taken. */
function pour(socket: Socket, pieces: Iterator<Buffer | string>): void {
  const next = pieces.next();
  if (next.done !== true && socket.writable)
    socket.write(next.value, (error) => error ?? setImmediate(pour, socket, pieces));
}

function* tinyRecords(): Generator<string> {
  yield 'HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n';
  for (;;) yield 'x';
}

async function tlsOptionsOf(cost: Cost, pair: Pair | undefined): Promise<TlsOptions> {
  if (cost === 'chain') return chainOf(39, generateKeyPairSync('ec', { namedCurve: 'P-256' }));
  if (cost === 'dhe') {
    const dhparam = pem('DH PARAMETERS', der(0x30, oddNumber(1_250), GENERATOR));
    const signing = chainOf(0, generateKeyPairSync('rsa', { modulusLength: 2_048 }));
    return { ...signing, dhparam, maxVersion: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256' };
  }
  const { certPem: cert, keyPem: key } = pair ?? (await (await sharedAuthority()).issue(['localhost']));
  return { cert, key, minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' };
}

/** `pair`: of a flood, default one of the authority of the tests. */
export async function startCostlyHost(cost: Cost, pair?: Pair): Promise<CostlyHost> {
  const open = new Set<Socket>();
  const secrets = new WeakMap<TLSSocket, Buffer>();
  let connections = 0;
  const tls = createTlsServer(await tlsOptionsOf(cost, pair));
  tls.on('keylog', (line: Buffer, socket: TLSSocket) => {
    const [label, , secret = ''] = line.toString().trim().split(' ');
    if (label === 'SERVER_TRAFFIC_SECRET_0') secrets.set(socket, Buffer.from(secret, 'hex'));
  });
  tls.on('secureConnection', (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      const tcp = [...open].find(({ remotePort }) => remotePort === socket.remotePort);
      const secret = secrets.get(socket);
      if (cost === 'tiny-records') pour(socket, tinyRecords());
      else if (cost === 'dhe' || cost === 'chain')
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      else if (tcp && secret) setTimeout(pour, OWN_RECORDS_MS, tcp, floodOf(cost, secret));
    });
  });
  const server = createServer((tcp) => {
    connections += 1;
    open.add(tcp);
    tcp.on('error', () => undefined).once('close', () => open.delete(tcp));
    tls.emit('connection', tcp);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `https://localhost:${port}`,
    stats: () => ({ connections }),
    close: async () => {
      for (const tcp of open) tcp.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
