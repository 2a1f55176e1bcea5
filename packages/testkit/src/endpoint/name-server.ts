import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { RECURSION_AVAILABLE, RECURSION_DESIRED, decode, encode } from 'dns-packet';
import type { Answer } from 'dns-packet';

const RCODE = { ok: 0, servfail: 2, nxdomain: 3 } as const;

/** The reply to one DNS query. Without addresses its answer section is empty; for `silence` none is sent. */
export type NameReply =
  { rcode: keyof typeof RCODE; addresses?: string[]; ttlSeconds?: number; alias?: string } | 'silence';

/** Starts a real DNS server on loopback at `address` ("host:port"). `answer` chooses the reply by name and type. */
export async function startNameServer(answer: (name: string, type: 'A' | 'AAAA') => NameReply) {
  const socket = createSocket('udp4');
  /** Every queried name so far, in lower case. */
  const asked: string[] = [];
  socket.on('message', (message, peer) => {
    const { id = 0, questions = [] } = decode(message);
    const [question] = questions;
    if (question === undefined) return;
    asked.push(question.name.toLowerCase());
    const type = question.type === 'A' ? 'A' : 'AAAA';
    const reply = answer(question.name.toLowerCase(), type);
    if (reply === 'silence') return;
    const flags = RECURSION_DESIRED | RECURSION_AVAILABLE | RCODE[reply.rcode];
    const answers = answersOf(question.name, type, reply);
    socket.send(encode({ type: 'response', id, flags, questions, answers }), peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { socket, asked, address: `127.0.0.1:${socket.address().port}` };
}

export type NameServer = Awaited<ReturnType<typeof startNameServer>>;

function answersOf(name: string, type: 'A' | 'AAAA', reply: Exclude<NameReply, 'silence'>): Answer[] {
  const { addresses = [], ttlSeconds: ttl = 0, alias } = reply;
  const answers: Answer[] = addresses.map((data) => ({ type, name: alias ?? name, ttl, data }));
  return alias === undefined ? answers : [{ type: 'CNAME', name, data: alias }, ...answers];
}
