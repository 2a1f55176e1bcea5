import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { runProgram, type RunningProgram } from '../run-program.js';
import { scratchFolders } from '../scratch-folder.js';

const holders: RunningProgram[] = [];
afterAll(() => holders.forEach(({ child }) => child.kill('SIGKILL')));
const scratch = scratchFolders();

/** A port that is free, and that this process has not reserved. */
async function unreservedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

it.each(['kafka', 'mongo'])(
  'two processes that start %s at the same moment, on the same port, come up apart',
  async (kind) => {
    const port = String(await unreservedPort());
    const folders = [await scratch(), await scratch()];
    const pair = folders.map((folder) => runProgram('hold-engine', [kind, folder, port]));
    holders.push(...pair);
    const lines = await Promise.all(pair.map(({ firstLine }) => firstLine));
    const ports = lines.map((line) => line.split(' ')[1]);
    expect(ports).toContain(port);
    expect(new Set(ports).size).toBe(2);
  },
);
