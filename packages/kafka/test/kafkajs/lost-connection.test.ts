import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { eventually } from '@webhooks/testkit';
import type { ProtocolRequest } from 'kafkajs/src/cluster/index.js';
import loggers from 'kafkajs/src/loggers/index.js';
import Connection from 'kafkajs/src/network/connection.js';
import { patchKafkajs } from '../../src/kafkajs/patch-kafkajs.js';

type Respond = (socket: Socket, correlationId: number) => void;

const CORRELATION_AT = 8; // behind size, api key and version

/** A broker that responds to each request as the next of `responses` says. */
async function brokerThat(responses: Respond[]): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (request) => responses.shift()?.(socket, request.readInt32BE(CORRELATION_AT)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function connectionTo(server: Server): Connection {
  const { port } = server.address() as AddressInfo;
  return new Connection({
    host: '127.0.0.1',
    port,
    logger: loggers.createLogger({ level: 0, logCreator: () => () => undefined }),
    socketFactory: ({ onConnect }: { onConnect: () => void }) =>
      connect({ host: '127.0.0.1', port }, onConnect),
    connectionTimeout: 2_000,
    requestTimeout: 2_000,
  });
}

const question: ProtocolRequest<string> = {
  request: {
    apiKey: 3,
    apiVersion: 0,
    apiName: 'Metadata',
    encode: () => Promise.resolve({ buf: Buffer.alloc(0), buffer: Buffer.alloc(0) }),
  },
  response: {
    decode: (payload) => Promise.resolve(String(payload)),
    parse: (text) => Promise.resolve(text),
  },
};

function frame(correlationId: number, payload: string): Buffer {
  const bytes = Buffer.alloc(8 + payload.length, payload.padStart(payload.length + 8));
  bytes.writeInt32BE(4 + payload.length, 0);
  bytes.writeInt32BE(correlationId, 4);
  return bytes;
}

const whole: Respond = (socket, id) => socket.write(frame(id, 'whole'));
const cutAt =
  (length: number): Respond =>
  (socket, id) =>
    socket.end(frame(id, 'never whole').subarray(0, length));
const garbage: Respond = (socket) => socket.write(Buffer.from([0, 0, 0, 1, 7]));

let server: Server;
let connection: Connection;
async function openTo(responses: Respond[]): Promise<void> {
  patchKafkajs();
  server = await brokerThat(responses);
  connection = connectionTo(server);
  await connection.connect();
}
afterEach(async () => {
  await connection.disconnect();
  server.close();
});

describe('[kafkajs keeps a socket whose broker does not respond, and sends to it again]', () => {
  it('a request that has no response in time closes its connection', async () => {
    await openTo([() => undefined, whole]);
    await expect(connection.send(question)).rejects.toThrow(/timed out/);
    await eventually(() => Promise.resolve(!connection.isConnected()));
    await connection.connect();
    await expect(connection.send(question)).resolves.toBe('whole');
  });
});

describe('[kafkajs reads the responses of a new connection behind what is left of the last one]', () => {
  it.each([1, 3, 4, 7, 8, 12])(
    'a connection that ended %i bytes into a response leaves nothing behind',
    async (length) => {
      await openTo([cutAt(length), whole, whole]);
      await expect(connection.send(question)).rejects.toThrow(/Closed connection/);
      await connection.connect();
      expect(await connection.send(question)).toBe('whole');
      expect(await connection.send(question)).toBe('whole');
    },
  );

  it('a malformed response ends its connection, not the process', async () => {
    await openTo([garbage, whole]);
    await expect(connection.send(question)).rejects.toThrow(/outside buffer bounds/);
    await connection.connect();
    expect(await connection.send(question)).toBe('whole');
  });
});

it('a response that was read is not kept until the next one comes', async () => {
  await openTo([whole]);
  expect(await connection.send(question)).toBe('whole');
  expect(connection.chunks).toEqual([]);
});
