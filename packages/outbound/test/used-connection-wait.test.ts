import { UsedConnectionWait } from '../src/used-connection-wait.js';

const LEAST_MS = 50;

describe('who waits for a used connection waits', () => {
  it.each([
    { handshake: undefined, freeAgo: 0, waits: LEAST_MS },
    { handshake: 10, freeAgo: 0, waits: LEAST_MS },
    { handshake: 400, freeAgo: 400, waits: 400 },
    { handshake: 400, freeAgo: 401, waits: LEAST_MS },
    { handshake: 400, freeAgo: undefined, waits: LEAST_MS },
    { handshake: 5_000, freeAgo: 900, waits: 1_000 },
  ])(
    '$waits ms, after a handshake of $handshake ms and a connection that came free $freeAgo ms ago',
    (row) => {
      const wait = new UsedConnectionWait(LEAST_MS);
      if (row.handshake !== undefined) wait.handshakeTook(row.handshake);
      if (row.freeAgo !== undefined) wait.cameFree(10_000 - row.freeAgo);
      expect(wait.waitMs(10_000)).toBe(row.waits);
    },
  );
});
