import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVENT_TYPES } from '@webhooks/contracts';
import { DEFAULT_TENANTS, startStack } from '@webhooks/local';
import type { Stack } from '@webhooks/local';
import { buildEvent, createRandom, eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { clientFor, openProducer } from '@webhooks/testkit/account';

/** Left out of every run: its bounds are for a machine with two cores of its own. `FAULT_CASES=1`. */
const whenRequested = process.env['FAULT_CASES'] === '1' ? describe : describe.skip;
const KILLS = Number(process.env['TAKEOVER_KILLS'] ?? 5);
const EVENTS_PER_SECOND = 500;
const BATCH_MS = 20;
/** What was sent this long before a kill is delivered and committed, or repeated because of it. */
const BEFORE_MS = 1_000;
const STEADY_MS = 3_000;
const LONG = { timeoutMs: 60_000, intervalMs: 100 };
const WORKER = 'delivery-worker';

const dataDir = mkdtempSync(join(tmpdir(), 'takeover-'));
const random = createRandom(1);
/** Event → when Kafka had it, and each time that it arrived; `performance.now()`. */
const sentAt = new Map<string, number>();
const arrivals = new Map<string, number[]>();
/** Its deliveries hang in the last case; what is sent to it then is owed to nobody's figures. */
const HUNG = { tenantId: DEFAULT_TENANTS[0], eventType: EVENT_TYPES[0] };
let hangs = false;
/** Events that Kafka did not acknowledge: they are owed to nobody. */
let refused = 0;
let stack: Stack;
let endpoint: Endpoint;
let endLoad: () => Promise<void>;

const isHung = ({
  tenantId,
  eventType,
}: {
  readonly tenantId: string;
  readonly eventType: string;
}): boolean => tenantId === HUNG.tenantId && eventType === HUNG.eventType;

/** Whether somebody accepts connections there. */
async function accepts(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  const socket = connect({ host, port: Number(port) });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Events of all routes, at a steady rate whatever becomes of them, until the end of the load. */
async function beginLoad(): Promise<() => Promise<void>> {
  const producer = await openProducer(stack.description().kafkaBrokers, 'payments');
  const startedAt = performance.now();
  const sending: Promise<unknown>[] = [];
  let made = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) * EVENTS_PER_SECOND) / 1_000);
    const events = Array.from({ length: due - made }, () =>
      buildEvent({ tenantId: random.pick(DEFAULT_TENANTS), eventType: random.pick(EVENT_TYPES) }, random),
    );
    made = due;
    const messages = events.map((event) => ({ key: event.data.endToEndId, value: JSON.stringify(event) }));
    const owed = hangs ? events.filter((event) => !isHung(event)) : events;
    const sent = producer.send(messages).then(
      () => owed.forEach(({ id }) => sentAt.set(id, performance.now())),
      () => (refused += events.length),
    );
    sending.push(sent);
  }, BATCH_MS);
  return async () => {
    clearInterval(timer);
    await Promise.all(sending);
    await producer.close();
  };
}

whenRequested('another worker takes the place of one, at 500 events a second', () => {
  beforeAll(async () => {
    stack = await startStack({ dataDir, fixedPorts: false, without: ['query-api'], log: () => undefined });
    await stack.fleet.startReplica({ name: `${WORKER}-2`, like: WORKER });
    const { certPem, keyPem } = await stack.authority.issue(['localhost']);
    endpoint = await startEndpoint({
      certPem,
      keyPem,
      remember: 1,
      reply: ({ id, path }) => {
        arrivals.set(id, [...(arrivals.get(id) ?? []), performance.now()]);
        return hangs && path === `/${HUNG.tenantId}/${HUNG.eventType}` ? { kind: 'hang' } : 200;
      },
    });
    for (const tenantId of DEFAULT_TENANTS)
      for (const eventType of EVENT_TYPES)
        await clientFor(stack.description(), tenantId).register({
          eventType,
          endpointUrl: `${endpoint.origin}/${tenantId}/${eventType}`,
        });
    endLoad = await beginLoad();
    await untilDelivered(performance.now() + STEADY_MS);
  }, 120_000);
  afterAll(async () => {
    await endLoad();
    await endpoint.close();
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }, 60_000);

  const sentBetween = (from: number, until: number): readonly string[] =>
    [...sentAt].flatMap(([id, at]) => (at >= from && at <= until ? [id] : []));

  /** All that is sent until then has arrived; nothing of it is lost. */
  const untilDelivered = (until: number): Promise<void> =>
    eventually(() => {
      expect(performance.now()).toBeGreaterThan(until);
      expect(sentBetween(0, until).filter((id) => !arrivals.has(id))).toHaveLength(0);
    }, LONG);

  const pid = (name = WORKER): number => stack.description().processes[name] ?? Number.NaN;

  /** Kills processes and resolves when all are started again; with when that began. */
  async function kill(...names: string[]): Promise<number> {
    const [killed, from] = [names.map(pid), performance.now()];
    for (const one of killed) process.kill(one, 'SIGKILL');
    await eventually(() => names.every((name, at) => ![killed[at], Number.NaN].includes(pid(name))), LONG);
    return from;
  }

  /** What an absence from `from` on cost; nobody can be quicker than what is owed from `since` on. */
  async function lookAt(
    what: string,
    from: number,
    since = from - BEFORE_MS,
  ): Promise<{ slowestMs: number; repeats: number }> {
    const until = performance.now() + STEADY_MS;
    await untilDelivered(until);
    const ids = sentBetween(from - BEFORE_MS, until);
    const ways = ids.map((id) => (arrivals.get(id)?.[0] ?? Infinity) - Math.max(since, sentAt.get(id) ?? 0));
    const slowestMs = Math.round(Math.max(...ways));
    const repeats = ids.reduce((sum, id) => sum + (arrivals.get(id)?.length ?? 0) - 1, 0);
    process.stdout.write(
      `${what}: events=${ids.length} slowest=${slowestMs} ms repeats=${repeats} refused=${refused} lost=0\n`,
    );
    return { slowestMs, repeats };
  }

  it(`which is killed, and started again under its name: within 3 s, with at most 100 repeats, ${KILLS} times`, async () => {
    for (let kills = 0; kills < KILLS; kills += 1) {
      const { slowestMs, repeats } = await lookAt('killed', await kill(WORKER));
      expect(slowestMs).toBeLessThanOrEqual(3_000);
      expect(repeats).toBeLessThanOrEqual(100);
    }
  }, 600_000);

  it('which does not come back: within 9 s', async () => {
    const from = performance.now();
    process.kill(pid(), 'SIGSTOP');
    const { slowestMs } = await lookAt('gone', from);
    process.kill(pid(), 'SIGCONT');
    expect(slowestMs).toBeLessThanOrEqual(9_000);
  }, 120_000);

  it('which is killed together with Kafka: within 3 s of the broker that accepts connections', async () => {
    const [broker = ''] = stack.description().kafkaBrokers;
    const from = await kill('kafka', WORKER);
    await eventually(() => accepts(broker), { ...LONG, intervalMs: 10 });
    const { slowestMs } = await lookAt('killed with Kafka', from, performance.now());
    expect(slowestMs).toBeLessThanOrEqual(3_000);
  }, 120_000);

  it('which is killed while one endpoint hangs: within 3 s, and the repeats are reported', async () => {
    hangs = true;
    await untilDelivered(performance.now() + STEADY_MS);
    const { slowestMs } = await lookAt('killed while one endpoint hangs', await kill(WORKER));
    expect(slowestMs).toBeLessThanOrEqual(3_000);
  }, 120_000);
});
