import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { freePort } from '@webhooks/local';
import { eventually } from '@webhooks/testkit';
import { Registry } from 'prom-client';
import { trackPayments } from '../src/track-payments.js';
import { makeSecret } from '../src/post.js';
import { runJson, startCliStack, type CliStack } from './support/cli-stack.js';
import { emptyHome, run, runProcess, start } from './support/run-webhooks.js';
import { startService } from './support/service.js';

/** The value of a series in the text format of Prometheus. */
const valueOf = (metrics: string, series: string): number =>
  Number(
    metrics
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.split(' ')[1],
  );
const oldest = (leg: string): string => `canary_oldest_missing_seconds{leg="${leg}"}`;
const paymentsOf = (result: string): string => `canary_payments_total{result="${result}"}`;

describe('the payments under way', () => {
  const HOUR_MS = 3_600_000;
  let at: number;
  let registry: Registry;
  const open = () => {
    [at, registry] = [1_000, new Registry()];
    return trackPayments(registry, () => at);
  };
  const read = async (series: string): Promise<number> => valueOf(await registry.metrics(), series);

  it('are complete with every leg, in any order and however often it is reported', async () => {
    const { begin, reach } = open();
    begin('a');
    at += 250;
    for (const leg of ['delivered', 'delivered', 'accepted', 'queryable', 'queryable'] as const)
      reach('a', leg);
    reach('of another process', 'delivered');
    expect(await read(paymentsOf('complete'))).toBe(1);
    expect(await read(`canary_leg_seconds_count{leg="delivered"}`)).toBe(1);
    expect(await read(`canary_leg_seconds_sum{leg="delivered"}`)).toBe(0.25);
    expect(await read(oldest('delivered'))).toBe(0);
  });

  it('show how old the oldest is that lacks a leg, and say when that begins and ends', async () => {
    const { begin, reach, changes, unqueriedMs } = open();
    for (const id of ['a', 'b']) {
      begin(id);
      reach(id, 'accepted');
      at += 5_000;
    }
    reach('b', 'delivered');
    expect(await Promise.all(['accepted', 'delivered', 'queryable'].map(oldest).map(read))).toEqual([
      0, 10, 10,
    ]);
    expect([changes(), unqueriedMs()]).toEqual([[], 5_000]);
    at += 1;
    const both = ['delivered', 'queryable'];
    expect(changes()).toEqual(both.map((leg) => ({ leg, isMissing: true })));
    expect(changes()).toEqual([]);
    for (const id of ['a', 'b']) for (const leg of ['delivered', 'queryable'] as const) reach(id, leg);
    expect(changes()).toEqual(both.map((leg) => ({ leg, isMissing: false })));
  });

  it('are lost after an hour, when the next one begins', async () => {
    const { begin } = open();
    begin('a');
    at += HOUR_MS;
    expect(await read(oldest('accepted'))).toBe(3_600);
    begin('b');
    expect([await read(paymentsOf('lost')), await read(oldest('accepted'))]).toEqual([1, 0]);
  });
});

test('a canary without a secret says what it lacks', async () => {
  const { code, err } = await runProcess(['canary'], await startService({}));
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('set WEBHOOKS_SECRET') as string });
});

describe('a canary beside the services', () => {
  let cli: CliStack;
  const closing: (() => void)[] = [];
  beforeAll(async () => {
    cli = await startCliStack();
  });
  afterAll(async () => {
    for (const close of closing) close();
    await cli.stop();
  });

  /** Puts TLS before a port, as an operator does. `cut` ends the way for good. */
  async function tlsBefore(port: number) {
    const { certPem: cert, keyPem: key } = await cli.stack.authority.issue(['localhost']);
    const open = new Set<Socket>();
    const server = createServer({ cert, key }, (socket) => {
      const inner = connect(port, '127.0.0.1');
      for (const one of [socket, inner]) {
        open.add(one);
        one.on('error', () => undefined).once('close', () => [socket, inner].map((end) => end.destroy()));
      }
      socket.pipe(inner).pipe(socket);
    });
    const cut = (): void => {
      server.close();
      for (const one of open) one.destroy();
    };
    closing.push(cut);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { url: `https://localhost:${(server.address() as AddressInfo).port}/canary`, cut };
  }

  async function register(endpointUrl: string, secret: string): Promise<void> {
    const { ref } = await runJson(cli, [
      ...['create', '--event-type', 'PIX_STATIC'],
      ...['--endpoint-url', endpointUrl],
    ]);
    const file = join(emptyHome()['XDG_CONFIG_HOME'] ?? '', 'secret');
    writeFileSync(file, secret);
    await runJson(cli, ['rotate-secret', String(ref), '--secret-file', file]);
  }

  it('sees each payment come round, and no delivery once the way to it is cut; SIGTERM ends it', async () => {
    const [port, metricsPort, secret] = [await freePort(), await freePort(), makeSecret()];
    const way = await tlsBefore(port);
    await register(way.url, secret);
    const ports = ['--port', String(port), '--metrics-port', String(metricsPort)];
    const running = start(['canary', '--every', '1', ...ports], { ...cli.env, WEBHOOKS_SECRET: secret });
    closing.push(() => running.child.kill());
    const metrics = async (): Promise<string> =>
      (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const read = async (series: string): Promise<number> => valueOf(await metrics(), series);
    const wait = (check: () => Promise<void> | void) =>
      eventually(check, { timeoutMs: 60_000, intervalMs: 200 });

    await wait(async () => expect(await read(paymentsOf('complete'))).toBeGreaterThan(2));
    for (const leg of ['accepted', 'delivered', 'queryable'])
      expect(await read(`canary_leg_seconds_count{leg="${leg}"}`)).toBeGreaterThan(2);
    const unsigned = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: '{}' });
    expect(unsigned.status).toBe(400);
    // Nothing was paid.
    expect((await run(['payments', 'list', '--json'], cli.env)).out).toBe('[]\n');
    const none = { events: 0, amount: '0.00' };
    expect(await runJson(cli, ['statement'])).toMatchObject({
      webhooks: [{ events: none, delivered: none }],
    });

    way.cut();
    await wait(async () => expect(await read(oldest('delivered'))).toBeGreaterThan(10));
    await wait(() => {
      expect(running.said.out).toMatch(/delivered: missing\n/);
    });
    expect(await read(oldest('accepted'))).toBeLessThan(5);
    expect(await metrics()).not.toMatch(/evt_|whsec_/);

    await cli.stack.fleet.stop('ingest');
    await wait(async () => expect(await read(oldest('accepted'))).toBeGreaterThan(2));
    await cli.stack.fleet.start('ingest');
    await wait(async () => expect(await read(oldest('accepted'))).toBeLessThan(2));
    expect(running.said.err).toMatch(/no response from http\S+ .*; retrying/);

    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(0);
  }, 180_000);
});
