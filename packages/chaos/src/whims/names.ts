import { startNameServer } from '@webhooks/testkit';
import type { NameReply } from '@webhooks/testkit';

/** Names the server to the workers of a run whom they ask for addresses, as `address:port`. */
export const NAME_SERVER_VARIABLE = 'CHAOS_NAME_SERVER';
/** The one name that there is. Nobody else is asked for it (RFC 2606 §3). */
export const RECEIVER_NAME = 'receiver.example.com';

const WELL: NameReply = { rcode: 'ok', addresses: ['127.0.0.1'] };
const NOTHING: NameReply = { rcode: 'ok' };

/** What a run's name server says; it knows one name, and only an IPv4 address. */
export interface Names {
  readonly address: string;
  /** Says this of the name from now on, to a question for an IPv4 address. */
  become(reply: NameReply): void;
  /** As at first. */
  behave(): void;
  close(): Promise<void>;
}

export async function openNames(): Promise<Names> {
  let now = WELL;
  const server = await startNameServer((name, type) => {
    if (name !== RECEIVER_NAME) return { rcode: 'nxdomain' };
    // A fault is one of the name: only addresses differ by the type of the question.
    return type === 'AAAA' && now !== 'silence' && now.rcode === 'ok' ? NOTHING : now;
  });
  return {
    address: server.address,
    become: (reply) => {
      now = reply;
    },
    behave: () => {
      now = WELL;
    },
    close: () => new Promise((resolve) => server.socket.close(() => resolve())),
  };
}
