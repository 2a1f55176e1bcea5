import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import freeze from '../../src/faults/freeze.js';
import type { World } from '../../src/world/world.js';

const dir = mkdtempSync(join(tmpdir(), 'freeze-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A service that is not ready for its first answers, as after a long pause. It tells of each. */
const PROGRAM = `
import { createServer } from 'node:http';
let asked = 0;
createServer((request, response) => {
  asked += 1;
  process.send(asked);
  response.writeHead(asked < 3 ? 503 : 200).end();
}).listen(Number(process.env.ADMIN_PORT), '127.0.0.1', () => process.send('listening'));
`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

it('a frozen service is back when it says that it is ready, not when it goes on', async () => {
  const program = join(dir, 'service.mjs');
  writeFileSync(program, PROGRAM);
  const service = fork(program, { env: { ADMIN_PORT: String(await freePort()) }, execArgv: [] });
  try {
    await once(service, 'message');
    const told: unknown[] = [];
    service.on('message', (message) => told.push(message));
    const processes = { ingest: service.pid };
    const world = { stack: { description: () => ({ processes }) } } as unknown as World;
    const end = await freeze.begin('ingest', world);
    await end();
    expect(told).toEqual([1, 2, 3]);
  } finally {
    service.kill('SIGKILL');
  }
});
