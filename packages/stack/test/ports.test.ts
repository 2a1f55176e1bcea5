import { createServer } from 'node:net';
import { PREFERRED_PORTS, choosePorts } from '../src/ports.js';

it.each([
  ['queryApi', 'query-api'],
  ['workerAdmin', 'delivery-worker (admin)'],
] as const)(
  'the log names the port of %s that is in use, and the one that is taken instead',
  async (name, shown) => {
    const preferred = PREFERRED_PORTS[name];
    const server = createServer();
    await new Promise<void>((resolve) => {
      // Another program may hold it already: it is in use then, too.
      server.once('error', () => resolve());
      server.listen(preferred, '127.0.0.1', resolve);
    });
    const said: string[] = [];
    const ports = await choosePorts(true, (line) => said.push(line));
    server.close();
    expect(ports[name]).not.toBe(preferred);
    expect(said).toContain(`port ${preferred} is in use; ${shown} listens on ${ports[name]}`);
  },
);
