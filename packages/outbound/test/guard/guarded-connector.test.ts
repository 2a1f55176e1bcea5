import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import { jest } from '@jest/globals';
import { createGuardedConnect } from '../../src/guard/guarded-connector.js';
import { HandshakeBudget, ThrottledError } from '../../src/guard/handshake-budget.js';

/** A group's address: the system refuses a TCP connection to it at once, without asking anybody. */
const GROUP = '224.0.0.1';

const budget = new HandshakeBudget(10);
afterAll(() => budget.close());

/** Everything is allowed; each name has these addresses. */
const connectorTo = (addresses: readonly string[]) =>
  createGuardedConnect({
    refusalOf: () => undefined,
    resolve: () => Promise.resolve(addresses),
    secureContext: createSecureContext(),
    ticketBytes: 0,
    connectTimeoutMs: 2_000,
  });
const connectTo = (...addresses: readonly string[]) =>
  connectorTo(addresses)(new URL('https://hook.acme.com.br'), { session: undefined }, budget.of('acme'));

describe('an address that the system refuses at once', () => {
  it.each([[[GROUP]], [[GROUP, '224.0.0.2']]])(
    'is a failure to connect, with its code: %j',
    async (addresses) => {
      await expect(connectTo(...addresses)).rejects.toMatchObject({
        errorClass: 'CONNECT',
        reasonCode: expect.stringMatching(/^E[A-Z]+$/) as unknown,
      });
    },
  );
});

it('of 64 addresses of one name four are tried, and more are refused before one is judged', async () => {
  const many = Array.from({ length: 64 }, (_, index) => `224.0.0.${index}`);
  const failure: unknown = await connectTo(...many).catch((error: unknown) => error);
  expect(failure).toMatchObject({ cause: { errors: { length: 4 } } });
  await expect(connectTo(...many, '127.0.0.1')).rejects.toMatchObject({
    ...{ errorClass: 'DNS', reasonCode: 'TOO_MANY_ADDRESSES' },
  });
});

it('a connection whose tenant is isolated while it is opened makes no handshake', async () => {
  const hello = jest.fn();
  const server = createServer((socket) => socket.on('data', hello)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const tenant = budget.of('globex');
  jest.spyOn(tenant, 'isIsolated', 'get').mockReturnValueOnce(false).mockReturnValue(true);
  const connecting = connectorTo(['127.0.0.1'])(
    new URL(`https://hook.acme.com.br:${port}`),
    { session: undefined },
    tenant,
  );
  await expect(connecting).rejects.toBeInstanceOf(ThrottledError);
  server.close();
  await once(server, 'close');
  expect(hello).not.toHaveBeenCalled();
});
