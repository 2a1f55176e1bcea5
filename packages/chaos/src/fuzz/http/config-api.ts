import { ProblemError } from '@webhooks/client';
import { EVENT_TYPES } from '@webhooks/contracts';
import { refOf } from '@webhooks/ledger';
import type { Random } from '@webhooks/testkit';
import type { Door } from '../door.js';
import { FUZZ_TENANTS } from '../fuzz-world.js';
import type { FuzzWorld } from '../fuzz-world.js';
import type { Notes } from '../notes.js';
import { documentOf } from './documents.js';
import { createHttpDoor } from './http-door.js';
import type { Asked } from './http-door.js';
import { FORBIDDEN_URLS, isStorable } from './endpoint-urls.js';
import type { Template } from './request.js';
import { makeTemplate } from './template.js';

const TENANT = FUZZ_TENANTS.configApi;
const WEBHOOKS = '/integration/v1/webhooks';
/** Few, so that most requests meet a configuration that is there. */
const REFS = 12;

/** What a configuration's answer and its later reading must both say; `updatedAt` changes with its secret too. */
const SAID = ['ref', 'eventType', 'endpointUrl', 'applicationId', 'enabled', 'createdAt'] as const;

interface Said {
  readonly index: number;
  readonly said: Readonly<Record<string, unknown>>;
}

/** Two of these differ in nothing that was said. */
const textOf = (webhook: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(SAID.map((name) => webhook[name] ?? null));

const oneOf = (ref: string): Pick<Template, 'path' | 'target'> => ({
  path: `${WEBHOOKS}/{ref}`,
  target: `${WEBHOOKS}/${ref}`,
});
const secretOf = (ref: string): Pick<Template, 'path' | 'target'> => ({
  path: `${WEBHOOKS}/{ref}/secret`,
  target: `${WEBHOOKS}/${ref}/secret`,
});

/** Of so many URLs one is forbidden. */
const FORBIDDEN_ONE_OF = 4;

const urlFor = (random: Random): string =>
  random.int(1, FORBIDDEN_ONE_OF) === 1
    ? random.pick(FORBIDDEN_URLS)
    : `https://receiver-${random.int(1, 3)}.webhooks-fuzz.net/hook?x=${random.int(1, 9)}`;

function makeOne(random: Random, token: string): Template {
  const ref = refOf(`/fuzz/${random.int(1, REFS)}`);
  const value = {
    ref,
    eventType: random.pick(EVENT_TYPES),
    endpointUrl: urlFor(random),
    applicationId: `app-${random.int(1, 3)}`,
    enabled: random.chance(0.7),
  };
  return random.pick([
    makeTemplate({ method: 'POST', path: WEBHOOKS, token, value }),
    makeTemplate({ method: 'PUT', path: WEBHOOKS, token, value }),
    makeTemplate({ method: 'PUT', path: WEBHOOKS, token, value }),
    makeTemplate({ method: 'GET', path: WEBHOOKS, target: `${WEBHOOKS}?limit=3&enabled=true`, token }),
    makeTemplate({ method: 'GET', ...oneOf(ref), token }),
    makeTemplate({ method: 'POST', ...secretOf(ref), token }),
    makeTemplate({ method: 'DELETE', ...secretOf(ref), token }),
  ]);
}

/** What was answered last of each configuration, whether it is what is there, and whether it may be. */
class Promises {
  readonly #byRef = new Map<string, Said>();
  readonly #forbidden: Said[] = [];

  /** A webhook in a 200 of any method is how it was at that moment. */
  note({ index, request, answers }: Asked): void {
    // Bytes may hold two requests, of which one was made and never answered.
    const asked = request.bytes.toString('latin1').split('HTTP/1.').length - 1;
    if (request.isWire && asked > answers.length) this.#byRef.clear();
    for (const { status, body } of answers) {
      if (status !== 200) continue;
      const said = JSON.parse(body.toString('utf8')) as Said['said'];
      const { ref, endpointUrl } = said;
      if (typeof ref !== 'string' || typeof endpointUrl !== 'string') continue;
      this.#byRef.set(ref, { index, said });
      if (!isStorable(endpointUrl)) this.#forbidden.push({ index, said });
    }
  }

  /** Reads back everything that was promised since the last time. */
  async settle(get: (ref: string) => Promise<object>, notes: Notes): Promise<void> {
    for (const [ref, { index, said }] of this.#byRef) {
      const found: Said['said'] = { ...(await readBack(get, ref)) };
      if (textOf(found) !== textOf(said))
        notes.found(index, `answered ${textOf(said)}, there is ${textOf(found)}`, ref);
    }
    for (const { index, said } of this.#forbidden) notes.found(index, 'stored a forbidden URL', textOf(said));
    this.#byRef.clear();
    this.#forbidden.length = 0;
  }
}

/** What is there; the problem's code in place of what is not. */
async function readBack(get: (ref: string) => Promise<object>, ref: string): Promise<object> {
  try {
    return await get(ref);
  } catch (error) {
    if (error instanceof ProblemError) return { ref: error.problem.code };
    throw error;
  }
}

/** Bodies, headers, paths and bytes for config-api. One after the other: what was answered last is what must be there. */
export async function openConfigApiDoor(world: FuzzWorld): Promise<Door> {
  const client = world.clientOf(TENANT);
  const token = await client.token();
  const promises = new Promises();
  return createHttpDoor({
    name: 'config-api',
    origin: world.stack.description().configApi,
    document: documentOf('config-api'),
    lanes: 1,
    batchSize: 250,
    template: (random) => makeOne(random, token),
    probe: () => makeTemplate({ method: 'GET', path: WEBHOOKS, token }),
    note: (asked) => promises.note(asked),
    settle: (notes) => promises.settle((ref) => client.get(ref), notes),
  });
}
