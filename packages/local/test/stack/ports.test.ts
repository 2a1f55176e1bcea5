import { createServer } from 'node:net';
import { PREFERRED_PORTS, choosePorts } from '../../src/stack/ports.js';

/** Takes the port, if no other program holds it: it is in use then, too. */
async function occupy(port: number) {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.once('error', () => resolve());
    server.listen(port, '127.0.0.1', resolve);
  });
  return server;
}

it.each([
  ['queryApi', 'query-api'],
  ['workerAdmin', 'delivery-worker (admin)'],
] as const)(
  'the log names the port of %s that is in use, and the one that is taken instead',
  async (name, shown) => {
    const preferred = PREFERRED_PORTS[name];
    const server = await occupy(preferred);
    const said: string[] = [];
    const ports = await choosePorts(true, (line) => said.push(line));
    server.close();
    expect(ports[name]).not.toBe(preferred);
    expect(said).toContain(`port ${preferred} is in use; ${shown} listens on ${ports[name]}`);
  },
);

it.each([
  ['kafka', 'KAFKA_BROKERS'],
  ['mongodb', 'MONGODB_URI'],
] as const)('the port of %s is nobody’s when the environment names that engine', async (name, variable) => {
  const before = process.env[variable];
  process.env[variable] = '127.0.0.1:1';
  const said: string[] = [];
  const server = await occupy(PREFERRED_PORTS[name]);
  await choosePorts(true, (line) => said.push(line));
  server.close();
  if (before === undefined) Reflect.deleteProperty(process.env, variable);
  else process.env[variable] = before;
  expect(said.filter((line) => line.includes(name))).toEqual([]);
});
