import { createServer, type Server } from 'node:net';
import { freePort } from '../../src/engine/free-port.js';

describe('a free port', () => {
  const servers: Server[] = [];
  afterAll(() => servers.forEach((server) => server.close()));

  function occupy(port: number): Promise<void> {
    const server = createServer();
    servers.push(server);
    return new Promise((resolve) => {
      server.listen(port, '127.0.0.1', () => resolve());
    });
  }

  it('is the preferred one when it is free, else another', async () => {
    const preferred = await freePort();
    await expect(freePort(preferred)).resolves.toBe(preferred);
    await occupy(preferred);
    await expect(freePort(preferred)).resolves.not.toBe(preferred);
  });

  it('lies below the range of outgoing connections, and is given to one caller only', async () => {
    const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()));
    expect(new Set(ports).size).toBe(50);
    expect(Math.max(...ports)).toBeLessThan(32_768);
  });
});
