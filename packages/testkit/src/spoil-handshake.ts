import type { Socket } from 'node:net';
import type { ConnectionManners } from './endpoint.js';

/** The head of a TLS record of the handshake, 4,096 bytes long: what follows is waited for. */
const RECORD_HEAD = Buffer.from([0x16, 0x03, 0x03, 0x10, 0x00]);

/** A TCP connection on which TLS never comes about. */
export function spoilHandshake(tcp: Socket, manners: Exclude<ConnectionManners, 'accept'>): void {
  switch (manners) {
    case 'reset':
      tcp.resetAndDestroy();
      return;
    case 'hang':
      tcp.resume();
      return;
    case 'end-in-handshake':
      tcp.once('data', () => tcp.end());
      return;
    case 'reset-in-handshake':
      tcp.once('data', () => tcp.resetAndDestroy());
      return;
    case 'drip-handshake':
      drip(tcp);
  }
}

function drip(tcp: Socket): void {
  tcp.resume();
  tcp.write(RECORD_HEAD);
  const timer = setInterval(() => tcp.write('x'), 20);
  tcp.once('close', () => clearInterval(timer));
}
