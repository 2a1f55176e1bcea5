import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startServiceProcess } from '../../src/stack/service-process.js';
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

it('a checkout whose entry point cannot be executed is named', async () => {
  const checkout = await scratch();
  const program = join(checkout, 'services', 'ingest', 'dist', 'src');
  await mkdir(program, { recursive: true });
  await writeFile(join(program, 'main.js'), '');
  const options = { name: 'ingest-2', program: 'ingest', adminPort: 9, env: {}, checkout };
  await expect(startServiceProcess({ ...options, logFile: join(checkout, 'log') })).rejects.toThrow(
    /^ingest could not be started: .*run-node is not executable$/,
  );
});
