import { createServer } from 'node:net';

// Below the kernel's range for outgoing connections (from 32768 on Linux). So a restarted engine finds its port still free.
const LOWEST = 20_000;
const HIGHEST = 31_999;
const TRIES = 200;
/** A process chooses every sixteenth port, offset by its id. So two processes rarely choose the same port before they listen. */
const STEP = 16;
const handedOut = new Set<number>();

/**
 * Returns a TCP port that is free at 127.0.0.1: `preferred` if possible, otherwise one of 20000–31999. A random port is returned once in a
 * process, so parallel callers never get the same one. `preferred` may be returned again. Throws after 200 tries.
 */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) {
    handedOut.add(preferred);
    return preferred;
  }
  for (let tried = 0; tried < TRIES; tried += 1) {
    const port =
      LOWEST + STEP * Math.floor((Math.random() * (HIGHEST - LOWEST)) / STEP) + (process.pid % STEP);
    if (handedOut.has(port)) continue;
    handedOut.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port found between ${LOWEST} and ${HIGHEST} after ${TRIES} tries`);
}

/** Runs `start` with two free ports. If it fails because another program has taken one of them, runs it once more with two other ports. */
export async function onFreePorts<T>(
  preferred: number | undefined,
  start: (port: number, secondPort: number) => Promise<T>,
): Promise<T> {
  const ports = [await freePort(preferred), await freePort()] as const;
  try {
    return await start(...ports);
  } catch (error) {
    const taken = (await Promise.all(ports.map(isFree))).includes(false);
    if (!taken) throw error;
    return start(await freePort(), await freePort());
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
