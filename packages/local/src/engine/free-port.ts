import { createServer } from 'node:net';

// Below the range from which the kernel takes ports for outgoing connections (32768 up on Linux), so that
// an engine that is stopped and started again finds its port still free.
const LOWEST = 20_000;
const HIGHEST = 31_999;
const TRIES = 200;
/** Each process chooses from every sixteenth port, by its id. So two processes hardly choose the same port before they listen. */
const STEP = 16;
const handedOut = new Set<number>();

/**
 * A TCP port that nobody listens on at 127.0.0.1: `preferred` when it is free, otherwise one of 20000–31999.
 * A random port was never handed out by this process, so that parallel callers do not meet; `preferred` may have been.
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

/**
 * Runs `start` with two free ports. Runs it once more with others when it failed because another program took one of them
 * in the meantime.
 */
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
