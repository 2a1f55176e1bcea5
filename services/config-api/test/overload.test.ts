import { AUDIENCE, eventually, TokenDesk, randomName } from '@webhooks/testkit';
import { WEBHOOKS, createCaller } from './support/caller.js';
import type { Caller } from './support/caller.js';
import { environment, makeTopics } from './support/start-config-api.js';
import { startProcess } from './support/service-process.js';
import type { ServiceProcess } from './support/service-process.js';

const MIB = 1_048_576;
const GROWTH_BYTES = 150 * MIB;
/** Many times what one instance writes while this runs, and over more connections than any bound here lets in. */
const CONNECTIONS = 64;
const ANSWERS = 1_000;
const QUIET_REQUESTS = 20;
/** Bounded, on a machine that does other work too: without limits a request waits for all that came before it. */
const QUIET_MS = 5_000;

const HOOK = { eventType: 'PIX_OUT', endpointUrl: 'https://hook.acme.com.br/pix' } as const;

let desk: TokenDesk;
const started: ServiceProcess[] = [];

beforeAll(async () => {
  await makeTopics();
  desk = await TokenDesk.open();
});
afterAll(async () => {
  for (const service of started) service.kill('SIGKILL');
  await desk.close();
});

function start(env: Readonly<Record<string, string>>): ServiceProcess {
  const service = startProcess({
    ...environment(desk),
    ...{ TOKEN_AUDIENCE: AUDIENCE, ADMIN_HOST: '127.0.0.1', ADMIN_PORT: '0' },
    ...env,
  });
  started.push(service);
  return service;
}

async function memoryOf(service: ServiceProcess): Promise<number> {
  const { adminPort } = await service.line('started');
  const response = await fetch(`http://127.0.0.1:${String(adminPort)}/metrics`);
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(await response.text())?.[1]);
}

async function tenantOf(service: ServiceProcess): Promise<{ caller: Caller; authorization: string }> {
  const tenantId = randomName('tenant');
  const authorization = `Bearer ${await desk.tokenOf(tenantId)}`;
  return { caller: createCaller(await service.url(), tenantId, authorization), authorization };
}

interface Flood {
  /** Answers by status, and those of 429 without `Retry-After` as `bare`. */
  readonly answers: Readonly<Record<string, number>>;
  end(): Promise<void>;
}

/** Changes one configuration over many connections at once, each again as soon as it was answered. */
function flood(url: string, authorization: string): Flood {
  const answers: Record<string, number> = {};
  let ended = false;
  const changeOn = async (enabled: boolean): Promise<void> => {
    while (!ended) {
      const response = await fetch(`${url}${WEBHOOKS}`, {
        method: 'PUT',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ ...HOOK, enabled }),
      });
      await response.arrayBuffer();
      const isBare = response.status === 429 && !response.headers.has('retry-after');
      const kind = isBare ? 'bare' : String(response.status);
      answers[kind] = (answers[kind] ?? 0) + 1;
    }
  };
  const changing = Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => changeOn(index % 2 === 0)));
  return {
    answers,
    end: async () => {
      ended = true;
      await changing;
    },
  };
}

describe('far more changes than one instance can make, all of one tenant', () => {
  it.each([
    ['over its requests a second', { TENANT_REQUESTS_PER_SECOND: '20', TENANT_REQUESTS_BURST: '20' }],
    ['over its share of what is under way', { TENANT_REQUESTS_PER_SECOND: '0', MAX_OPEN_REQUESTS: '16' }],
  ])('%s: the excess gets 429, and another tenant is served as before', async (_, env) => {
    const service = start(env);
    const [noisy, quiet] = [await tenantOf(service), await tenantOf(service)];
    expect((await noisy.caller.post(HOOK)).status).toBe(200);
    expect((await quiet.caller.post(HOOK)).status).toBe(200);
    const before = await memoryOf(service);

    const changes = flood(await service.url(), noisy.authorization);
    const { answers } = changes;
    await eventually(() => (answers['429'] ?? 0) > CONNECTIONS, { message: 'the flood is refused' });
    const waits: number[] = [];
    for (let turn = 0; turn < QUIET_REQUESTS; turn += 1) {
      const askedAt = performance.now();
      expect((await quiet.caller.put({ ...HOOK, enabled: turn % 2 === 0 })).status).toBe(200);
      waits.push(performance.now() - askedAt);
    }
    await eventually(() => (answers['429'] ?? 0) > ANSWERS, {
      timeoutMs: 30_000,
      message: 'enough is refused',
    });
    const after = await memoryOf(service);
    await changes.end();

    // On a slow machine one of the noisy tenant's own changes may wait too long for its turn: 500, and it was not begun.
    expect(Object.keys(answers).filter((kind) => !['200', '429', '500'].includes(kind))).toEqual([]);
    expect(Math.max(...waits)).toBeLessThan(QUIET_MS);
    expect(after - before).toBeLessThan(GROWTH_BYTES);
  });
});
