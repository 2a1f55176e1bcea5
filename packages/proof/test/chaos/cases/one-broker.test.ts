import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@webhooks/client';
import type { PaymentEvent } from '@webhooks/contracts';
import { clientFor } from '@webhooks/testkit/account';
import { startStack } from '@webhooks/local';
import type { Stack } from '@webhooks/local';
import { buildEvent, eventually, startEndpoint, stopProcess } from '@webhooks/testkit';
import type { Reply, Arrival, Endpoint } from '@webhooks/testkit';

/** `WORKERS_GONE_SECONDS=3600` is the hour of the fault case, `DATABASE_GONE_SECONDS=900` its quarter of an hour. */
const WORKERS_GONE_MS = 1_000 * Number(process.env['WORKERS_GONE_SECONDS'] ?? 2);
const DATABASE_GONE_MS = 1_000 * Number(process.env['DATABASE_GONE_SECONDS'] ?? 1);
/** Left out of every run, which has no time for one more stack: `FAULT_CASES=1`. */
const whenRequested = process.env['FAULT_CASES'] === '1' ? describe : describe.skip;
const EVENTS = 200;
const TENANT = 'acme';
const LONG = { timeoutMs: 90_000 };

const dataDir = mkdtempSync(join(tmpdir(), 'cases-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
/** What the receiver does with an event; 200 when nobody said anything else. */
const replies = new Map<string, Reply>();
const arrivals: Arrival[] = [];
let stack: Stack;
let client: Client;
let endpoint: Endpoint;

async function open(): Promise<void> {
  stack = await startStack({
    dataDir,
    fixedPorts: false,
    // One attempt at a time: what comes for a receiver that holds one has not been sent when the worker is killed.
    overrides: { 'delivery-worker': { ENDPOINT_CONCURRENCY: '1', RETRY_DELAYS: '1s,1s,1s,1s,1s' } },
    log: () => undefined,
  });
  const { certPem, keyPem } = await stack.authority.issue(['localhost']);
  endpoint = await startEndpoint({ certPem, keyPem, remember: 1, reply: receive });
  client = clientFor(stack.description(), TENANT);
  for (const eventType of ['PIX_STATIC', 'PIX_OUT'] as const)
    await client.register({ eventType, endpointUrl: `${endpoint.origin}/${eventType}` });
  const inForceAt = Date.now() + 1_000;
  await eventually(() => Date.now() > inForceAt);
}

async function close(): Promise<void> {
  await endpoint.close();
  await stack.stop();
}

function receive(arrival: Arrival): number | Reply {
  arrivals.push(arrival);
  return replies.get(arrival.id) ?? 200;
}

const arrivalsOf = ({ id }: PaymentEvent): readonly Arrival[] =>
  arrivals.filter((arrival) => arrival.id === id);

const untilArrived = (events: readonly PaymentEvent[], times = 1): Promise<void> =>
  eventually(
    () => {
      const missing = events.filter((event) => arrivalsOf(event).length < times);
      if (missing.length > 0) throw new Error(`${missing.length} of ${events.length} did not arrive`);
    },
    { ...LONG, message: `each event arrives, times ${times}` },
  );

/** A counter of the worker that runs now; 0 when it has not counted yet, and while nobody responds. */
async function counted(line: RegExp): Promise<number> {
  const url = `${stack.description().admin['delivery-worker'] ?? ''}/metrics`;
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
  return Number(line.exec((await response?.text()) ?? '')?.[1] ?? 0);
}

const waitFor = (ms: number): Promise<unknown> => {
  const endsAt = Date.now() + ms;
  return eventually(() => Date.now() >= endsAt, { timeoutMs: ms + 10_000 });
};

const pidOf = (name: string): number => stack.description().processes[name] ?? Number.NaN;

/** Status and problem code of a query or a change, within the 5 s that either may take. */
async function ask(url: string): Promise<unknown> {
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${await client.token()}` },
    signal: AbortSignal.timeout(5_000),
  });
  const { code } = (await response.json()) as { readonly code?: string };
  return { status: response.status, code };
}

whenRequested('with one broker', () => {
  beforeAll(open, 180_000);
  afterAll(close, 120_000);

  it('a worker that is killed before it sends, before the response and before it commits sends all of it again', async () => {
    const make = (eventType: 'PIX_STATIC' | 'PIX_OUT') => buildEvent({ tenantId: TENANT, eventType });
    const [finished, held, waiting] = [make('PIX_STATIC'), make('PIX_OUT'), make('PIX_OUT')];
    // One partition: what is held keeps the position from being committed beyond it.
    const { endToEndId } = held.data;
    const events = [held, waiting, finished].map(
      (event) => ({ ...event, data: { ...event.data, endToEndId } }) as PaymentEvent,
    );
    replies.set(held.id, { kind: 'hang' });
    const delivered = /^webhook_settlements_total\{kind="delivered",reason=""\} (\d+)$/m;
    const [first, ...others] = events as [PaymentEvent, ...PaymentEvent[]];
    await client.postEvent(first);
    await untilArrived([held]);
    await client.postEvents(others);
    await untilArrived([finished]);
    await eventually(async () => expect(await counted(delivered)).toBe(1), LONG);
    expect(arrivalsOf(waiting)).toEqual([]);
    process.kill(pidOf('delivery-worker'), 'SIGKILL');
    replies.clear();
    await untilArrived([held, finished], 2);
    await untilArrived([waiting]);
    for (const event of [held, finished]) {
      expect(arrivalsOf(event).map(({ headers }) => headers['webhook-attempt'])).toEqual(['1', '1']);
      expect(new Set(arrivalsOf(event).map(({ body }) => body.toString())).size).toBe(1);
    }
  }, 180_000);

  it(
    `all workers are away for ${WORKERS_GONE_MS / 1_000} s: the backlog is delivered, and its age is reported`,
    async () => {
      await stack.fleet.stop('delivery-worker');
      const events = Array.from({ length: EVENTS }, () =>
        buildEvent({ tenantId: TENANT, eventType: 'PIX_STATIC' }),
      );
      await client.postEvents(events);
      await waitFor(WORKERS_GONE_MS);
      expect(events.flatMap(arrivalsOf)).toEqual([]);
      await stack.fleet.start('delivery-worker');
      await untilArrived(events);
      // What was deferred for want of its receiver's one slot is not counted.
      const first = await counted(/^webhook_first_attempt_delay_seconds_count (\d+)$/m);
      const prompt = await counted(/^webhook_first_attempt_delay_seconds_bucket\{le="1"\} (\d+)$/m);
      expect(first).toBeGreaterThan(0);
      expect(prompt).toBeLessThan(first / 4);
      expect(events.flatMap(arrivalsOf)).toHaveLength(EVENTS);
    },
    180_000 + WORKERS_GONE_MS,
  );

  it(
    `the database is away for ${DATABASE_GONE_MS / 1_000} s: config-api and query-api say so within 5 s, and deliveries go on`,
    async () => {
      const { configApi, queryApi } = stack.description();
      const urls = [
        `${configApi}/integration/v1/webhooks`,
        `${queryApi ?? ''}/integration/v1/webhooks/deliveries?limit=1`,
      ];
      const pid = pidOf('mongodb');
      try {
        // Stopped, not killed: the stack would start it again at once.
        await stopProcess(pid);
        const gone = { status: 500, code: 'database-unavailable' };
        expect(await Promise.all(urls.map(ask))).toEqual([gone, gone]);
        const events = Array.from({ length: EVENTS }, () =>
          buildEvent({ tenantId: TENANT, eventType: 'PIX_OUT' }),
        );
        const results = await client.postEvents(events);
        expect(results.every(({ status }) => status === 'accepted')).toBe(true);
        await untilArrived(events);
        await waitFor(DATABASE_GONE_MS);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await eventually(
        async () =>
          expect(await Promise.all(urls.map(ask))).toMatchObject([{ status: 200 }, { status: 200 }]),
        { ...LONG, intervalMs: 200 },
      );
    },
    180_000 + DATABASE_GONE_MS,
  );
});
