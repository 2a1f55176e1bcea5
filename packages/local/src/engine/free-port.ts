import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the kernel's range for outgoing connections (from 32768 on Linux). So a restarted engine finds its port still free.
const LOWEST = 20_000;
const HIGHEST = 31_999;
const TRIES = 200;
const reserved = new Set<number>();

/**
 * Returns a TCP port that is free at 127.0.0.1: `preferred` if possible, otherwise one of 20000–31999. A random port is returned once in a
 * process, so parallel callers never get the same one. `preferred` may be returned again. No other process gets the port from this function
 * while this one runs. Throws after 200 tries.
 */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await take(preferred))) return preferred;
  for (let tried = 0; tried < TRIES; tried += 1) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST + 1));
    if (!reserved.has(port) && (await take(port))) return port;
  }
  throw new Error(`no free port found between ${LOWEST} and ${HIGHEST} after ${TRIES} tries`);
}

const take = async (port: number): Promise<boolean> => (await reserve(port)) && isFree(port);

/**
 * Reserves a port until this process ends, however it ends, by binding the UDP port of the same number. The TCP port itself has to stay
 * free for the program that will listen on it. False when another process has the reservation.
 */
async function reserve(port: number): Promise<boolean> {
  if (reserved.has(port)) return true;
  const socket = createSocket('udp4').unref();
  try {
    socket.bind({ port, address: '127.0.0.1', exclusive: true });
    await once(socket, 'listening');
  } catch {
    socket.close();
    return false;
  }
  reserved.add(port);
  return true;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
