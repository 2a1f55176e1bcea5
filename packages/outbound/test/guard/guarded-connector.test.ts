import { createSecureContext } from 'node:tls';
import { createGuardedConnect } from '../../src/guard/guarded-connector.js';
import { HandshakeBudget } from '../../src/guard/handshake-budget.js';

/** A group's address: the system refuses a TCP connection to it at once, without asking anybody. */
const GROUP = '224.0.0.1';

const budget = new HandshakeBudget(10);
afterAll(() => budget.close());

/** Everything is allowed; each name has these addresses. */
const connectTo = (...addresses: readonly string[]) =>
  createGuardedConnect({
    refusalOf: () => undefined,
    resolve: () => Promise.resolve(addresses),
    secureContext: createSecureContext(),
    ticketBytes: 0,
    connectTimeoutMs: 2_000,
  })(new URL('https://hook.acme.com.br'), { session: undefined }, budget.of('acme'));

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
