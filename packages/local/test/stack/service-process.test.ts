import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runProgram } from '../run-program.js';
import { scratchFolders } from '../scratch-folder.js';

const scratch = scratchFolders();
const impostor = createServer((_request, response) => void response.end());
afterAll(() => impostor.close());

it('a service is not taken for ready because another program answers at its admin port', async () => {
  await once(impostor.listen(0, '127.0.0.1'), 'listening');
  const { port } = impostor.address() as AddressInfo;
  const started = runProgram('start-service', [String(port), join(await scratch(), 'log')]);
  expect(await started.firstLine).toMatch(/ingest ended while starting .*EADDRINUSE/);
});
