// Where listen forwards to, and what it signs with.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { verifyNotification } from '@webhooks/client';
import { runProcess } from './support/run-webhooks.js';
import type { Environment } from './support/run-webhooks.js';
import { startService } from './support/service.js';

const body = JSON.stringify({ id: 'evt_1', eventType: 'PIX_OUT', occurredAt: '', data: {} });
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A service with one notification. */
const openService = (): Promise<Environment> =>
  startService({
    'GET /notifications': (nth) => {
      const data = nth === 1 ? [] : [{ id: 'evt_1', eventType: 'PIX_OUT', body }];
      return [200, { results: data.length, data, nextCursor: String(nth), hasMore: false }];
    },
  });

test.each(['localhost:PORT/pix', 'shop.localhost:PORT/pix', '[::1]:PORT/pix', 'PORT/pix'])(
  'listen forwards to %s, which is on IPv6 alone',
  async (address) => {
    const arrivals: (string | undefined)[] = [];
    const receiver = createServer((request, response) => {
      arrivals.push(request.url);
      response.end();
    });
    receiver.listen(0, '::1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    const args = ['listen', '--count', '1', '--forward', address.replace('PORT', String(port))];
    const { out } = await runProcess(args, await openService());
    receiver.close();
    expect(out).toContain('delivered 200');
    expect(arrivals).toEqual(['/pix']);
  },
);

/** The headers that one event is signed with. */
async function signedBy(env: Environment, ...args: readonly string[]): Promise<IncomingHttpHeaders> {
  const { out } = await runProcess(['listen', '--count', '1', '--json', ...args], env);
  return (JSON.parse(out.split('\n')[1] ?? '') as { headers: IncomingHttpHeaders }).headers;
}
const verify = (headers: IncomingHttpHeaders, secret: string): string =>
  verifyNotification(headers, Buffer.from(body), secret).id;
const kept = (env: Environment): string => {
  const file = readFileSync(join(env['XDG_CONFIG_HOME'] ?? '', 'webhooks', 'profiles.json'), 'utf8');
  return (JSON.parse(file) as { profiles: { default: { secret: string } } }).profiles.default.secret;
};

test('listen makes a secret once and keeps it in the profile; a login keeps it, too', async () => {
  const env = await openService();
  await signedBy(env);
  const made = kept(env);
  await runProcess(['login'], env);
  expect(verify(await signedBy(env), made)).toBe('evt_1');
  expect(kept(env)).toBe(made);
});

test('listen keeps the secret that it is given, and that of the environment wins and is not kept', async () => {
  const env = await openService();
  expect(verify(await signedBy(env, '--secret', SECRET), SECRET)).toBe('evt_1');
  const other = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
  expect(verify(await signedBy({ ...env, WEBHOOKS_SECRET: other }), other)).toBe('evt_1');
  expect(kept(env)).toBe(SECRET);
});

test('a secret of the environment that cannot sign is refused, and not repeated', async () => {
  const { code, err } = await runProcess(['listen'], {
    ...(await openService()),
    WEBHOOKS_SECRET: 'hunter2',
  });
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringMatching(/^a signing secret is whsec_/) as string,
  });
  expect(err).not.toContain('hunter2');
});

test('where no profile can be kept, listen says so and goes on', async () => {
  const env = { ...(await openService()), XDG_CONFIG_HOME: '/dev/null' };
  const { code, err } = await runProcess(['listen', '--count', '1'], env);
  expect({ code, err }).toEqual({
    code: 0,
    err: expect.stringMatching(
      /Warning: the secret is for this session only: \/dev\/null.*: not a directory/,
    ) as string,
  });
});
