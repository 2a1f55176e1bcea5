import type { Socket } from 'node:net';

/**
 * `reset` at once; `hang`: accepted, then silence; `end-in-handshake` and `reset-in-handshake`: broken off once the
 * first bytes of TLS are there; `drip-handshake`: a record of TLS is answered, one byte every 20 ms, without an end.
 */
export type ConnectionManners =
  'accept' | 'reset' | 'hang' | 'end-in-handshake' | 'reset-in-handshake' | 'drip-handshake';

/** The head of a TLS record of the handshake, 4,096 bytes long: what follows is waited for. */
const RECORD_HEAD = Buffer.from('1603031000', 'hex');

/** TCP connections on which TLS never comes about. */
export const SPOIL_HANDSHAKE: Readonly<
  Record<Exclude<ConnectionManners, 'accept'>, (tcp: Socket) => unknown>
> = {
  reset: (tcp) => tcp.resetAndDestroy(),
  hang: (tcp) => tcp.resume(),
  'end-in-handshake': (tcp) => tcp.once('data', () => tcp.end()),
  'reset-in-handshake': (tcp) => tcp.once('data', () => tcp.resetAndDestroy()),
  'drip-handshake': (tcp) => {
    tcp.resume().write(RECORD_HEAD);
    const timer = setInterval(() => tcp.write('x'), 20);
    tcp.once('close', () => clearInterval(timer));
  },
};
