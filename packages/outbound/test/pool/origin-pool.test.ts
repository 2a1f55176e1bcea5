import { sharedAuthority } from '@webhooks/testkit';
import type { Arrival, Endpoint, EndpointOptions } from '@webhooks/testkit';
import type { Resolve, Sender, SenderOptions, SendResult } from '../../src/index.js';
import { SendFailure } from '../../src/send-failure.js';
import { postTimes, Rig } from '../rig.js';

const rig = new Rig();
afterEach(() => rig.close());

const HOST = 'hook.acme.com.br';
/** A second one is opened only for who has waited that long. */
const ONE_CONNECTION = { handshakesPerOrigin: 1, usedConnectionMs: 60_000 } as const;

interface Named {
  readonly endpoint: Endpoint;
  readonly sender: Sender;
  readonly origin: string;
}

/** An endpoint with a name, so that a test can hold up or spoil its handshakes by the answers of DNS. */
async function named(
  resolve: Resolve,
  options: SenderOptions,
  behaviour: EndpointOptions = {},
): Promise<Named> {
  const authority = await sharedAuthority();
  const endpoint = await rig.endpoint({ ...behaviour, ...(await authority.issue([HOST])) });
  const sender = rig.sender(endpoint, { extraCaFile: authority.caFile, resolve, ...options });
  return { endpoint, sender, origin: `https://${HOST}:${endpoint.port}` };
}

/** Gives these answers in turn, the last one for ever. */
function answering(...answers: (() => Promise<readonly string[]>)[]): Resolve {
  let asked = 0;
  return () => {
    const answer = answers[Math.min(asked, answers.length - 1)];
    asked += 1;
    if (answer === undefined) throw new Error('expected an answer');
    return answer();
  };
}

const loopback = (): Promise<string[]> => Promise.resolve(['127.0.0.1']);
const never = (): Promise<never> => new Promise(() => undefined);
const noName = (): Promise<never> => Promise.reject(new SendFailure('DNS', 'ESERVFAIL'));

const countKind = (results: readonly SendResult[], kind: SendResult['kind']): number =>
  results.filter((result) => result.kind === kind).length;

describe('handshakes to one origin', () => {
  it('are bounded: a burst begins eight', async () => {
    const endpoint = await rig.endpoint({ connection: 'hang' });
    const sender = rig.sender(endpoint, { attemptTimeoutMs: 1_000 });
    for (const result of await postTimes(64, sender, endpoint.origin)) {
      expect(result).toMatchObject({ error: 'TIMEOUT', code: 'DEADLINE' });
    }
    expect(endpoint.stats().connections).toBe(8);
  });

  it('are as many as there are attempts, below the bound', async () => {
    const endpoint = await rig.endpoint({ connection: 'hang' });
    const sender = rig.sender(endpoint, { attemptTimeoutMs: 1_000 });
    await postTimes(3, sender, endpoint.origin);
    expect(endpoint.stats().connections).toBe(3);
  });

  it('go on until each attempt has a connection', async () => {
    const all = Promise.withResolvers<number>();
    const reply = ({ index }: Arrival): Promise<number> => {
      if (index === 40) all.resolve(200);
      return all.promise;
    };
    const endpoint = await rig.endpoint({ reply });
    const sender = rig.sender(endpoint);
    expect(countKind(await postTimes(40, sender, endpoint.origin), 'responded')).toBe(40);
    // More, when a connection ended before its response and its attempt ran again.
    expect(endpoint.stats().connections).toBeGreaterThanOrEqual(40);
  });

  it('come too late for an attempt that gets a connection that became free', async () => {
    const { endpoint, sender, origin } = await named(answering(loopback, never), {});
    for (const result of await postTimes(6, sender, origin)) expect(result).toMatchObject({ status: 200 });
    expect(endpoint.stats()).toMatchObject({ connections: 1, arrivals: 6 });
  });

  it('are not begun for a burst that used connections can carry', async () => {
    // Nobody closes an idle connection, however long the machine stands still between the bursts.
    const endpoint = await rig.endpoint({ keepAliveTimeoutMs: 60_000 });
    const idle = { keepAliveMs: 60_000, keepAliveMaxMs: 60_000 };
    const sender = rig.sender(endpoint, { usedConnectionMs: 60_000, ...idle });
    for (const count of [8, 300]) {
      const results = await postTimes(count, sender, endpoint.origin);
      expect(countKind(results, 'responded')).toBe(count);
    }
    expect(endpoint.stats()).toMatchObject({ connections: 8, arrivals: 308 });
  });

  it('are begun for attempts that have waited long enough for a used connection, even if none becomes free', async () => {
    const ninth = Promise.withResolvers<number>();
    const reply = ({ index }: Arrival): Promise<number> => {
      if (index === 9) ninth.resolve(200);
      return ninth.promise;
    };
    const endpoint = await rig.endpoint({ reply });
    const sender = rig.sender(endpoint, { usedConnectionMs: 20 });
    expect(countKind(await postTimes(9, sender, endpoint.origin), 'responded')).toBe(9);
    expect(endpoint.stats().connections).toBe(9);
  });

  it('are at most eight at a time', async () => {
    const lookups = Array.from({ length: 8 }, () => loopback);
    const held = { reply: { kind: 'status', status: 200, delayMs: 60_000 } } as const;
    let asked = 0;
    const resolve = answering(...lookups, never);
    const counted: Resolve = (...args) => {
      asked += 1;
      return resolve(...args);
    };
    const { endpoint, sender, origin } = await named(counted, { attemptTimeoutMs: 1_000 }, held);
    await postTimes(64, sender, origin);
    expect(endpoint.stats().connections).toBe(8);
    expect(asked).toBe(8 + 8);
  });

  it('are begun for attempts at other endpoints of the origin, while its connections are held by one that hangs', async () => {
    const hang = Promise.withResolvers<number>();
    const all = Promise.withResolvers<undefined>();
    const endpoint = await rig.endpoint({
      reply: ({ index }) => {
        if (index === 40) all.resolve(undefined);
        return index > 40 ? Promise.resolve(200) : hang.promise;
      },
    });
    const sender = rig.sender(endpoint);
    const hanging = postTimes(40, sender, endpoint.origin);
    await all.promise;
    for (const result of await postTimes(8, sender, endpoint.origin)) {
      expect(result.kind).toBe('responded');
      expect(result.durationMs).toBeLessThan(2_000);
    }
    hang.resolve(200);
    await hanging;
  });

  it('cost those who wait for their turn none of the time for connecting', async () => {
    const slow = { reply: { kind: 'status', status: 200, delayMs: 1_500 } } as const;
    const limits = { ...ONE_CONNECTION, connectTimeoutMs: 1_200 };
    const { sender, origin } = await named(loopback, limits, slow);
    for (const result of await postTimes(2, sender, origin)) expect(result).toMatchObject({ status: 200 });
  });

  it('that fail are the failure of one attempt each', async () => {
    const { sender, origin } = await named(answering(noName, loopback), { handshakesPerOrigin: 1 });
    const results = await postTimes(5, sender, origin);
    expect(results[0]).toMatchObject({ error: 'DNS', code: 'ESERVFAIL' });
    for (const result of results.slice(1)) expect(result).toMatchObject({ status: 200 });
  });
});

it('handshakes with origins that never respond delay none of another origin', async () => {
  const silent = await Promise.all(Array.from({ length: 20 }, () => rig.endpoint({ connection: 'hang' })));
  const healthy = await rig.endpoint();
  const sender = rig.sender(healthy, { connectTimeoutMs: 5_000, attemptTimeoutMs: 5_000 });
  const hanging = silent.map(({ origin }) => postTimes(8, sender, origin));
  // The attempts that hang began before, and end at the same time-out.
  const first = await Promise.race([postTimes(20, sender, healthy.origin), ...hanging]);
  expect(countKind(first, 'responded')).toBe(20);
  await Promise.all(hanging);
});

describe('a connection that ended while it was idle', () => {
  it('costs the attempt that met it a new connection, not a failure', async () => {
    const endpoint = await rig.endpoint({
      reply: { kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', then: 'end' },
    });
    const sender = rig.sender(endpoint, ONE_CONNECTION);
    for (const result of await postTimes(10, sender, endpoint.origin)) {
      expect(result).toMatchObject({ kind: 'responded', status: 200 });
    }
    expect(endpoint.stats()).toMatchObject({ arrivals: 10, connections: 10 });
  });
});
