import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';

const RCODE = { ok: 0, servfail: 2, nxdomain: 3 } as const;
const TYPE_A = 1;
const TYPE_CNAME = 5;

/** What the server says to one question; without addresses the answer is empty. */
export type NameReply =
  { rcode: keyof typeof RCODE; addresses?: string[]; ttlSeconds?: number; alias?: string } | 'silence';

/** A real DNS server on loopback that answers by name and type. */
export async function startNameServer(
  answer: (name: string, type: 'A' | 'AAAA') => NameReply,
): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (question, peer) => {
    const { name, type, end } = readQuestion(question);
    asked.push(name);
    const reply = answer(name, type === TYPE_A ? 'A' : 'AAAA');
    if (reply !== 'silence')
      socket.send(writeReply(question.subarray(0, end), reply, type), peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { socket, asked, address: `127.0.0.1:${socket.address().port}` };
}

export interface NameServer {
  readonly socket: Socket;
  /** Every name so far, in lower case. */
  readonly asked: string[];
  /** `address:port`. */
  readonly address: string;
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function writeReply(question: Buffer, reply: Exclude<NameReply, 'silence'>, type: number): Buffer {
  const records = (reply.addresses ?? []).map((address) => {
    const data =
      type === TYPE_A
        ? Buffer.from(address.split('.').map(Number))
        : Buffer.from(
            address
              .split(':')
              .map((group) => group.padStart(4, '0'))
              .join(''),
            'hex',
          );
    // Behind an alias the address belongs to the alias's name, which stands in the record before it.
    const owner = reply.alias === undefined ? [0xc0, 0x0c] : [0xc0, question.length + 12];
    const head = Buffer.from([...owner, 0, type, 0, 1, 0, 0, 0, reply.ttlSeconds ?? 0, 0, data.length]);
    return Buffer.concat([head, data]);
  });
  if (reply.alias !== undefined) {
    const name = Buffer.concat([
      ...reply.alias.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
      Buffer.from([0]),
    ]);
    records.unshift(Buffer.from([0xc0, 0x0c, 0, TYPE_CNAME, 0, 1, 0, 0, 0, 0, 0, name.length, ...name]));
  }
  const header = Buffer.from(question.subarray(0, 12));
  header.writeUInt16BE(0x8180 | RCODE[reply.rcode], 2);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt16BE(0, 8);
  header.writeUInt16BE(0, 10);
  return Buffer.concat([header, question.subarray(12), ...records]);
}
