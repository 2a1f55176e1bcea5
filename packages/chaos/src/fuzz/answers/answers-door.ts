import { setTimeout as delay } from 'node:timers/promises';
import { EVENT_TYPES, TOPICS, parseAttemptPack } from '@webhooks/contracts';
import type { AttemptEntry, PaymentEvent } from '@webhooks/contracts';
import type { Client } from '@webhooks/client';
import { refOf } from '@webhooks/ledger';
import { buildEvent } from '@webhooks/testkit';
import type { Answer, Arrival, Endpoint } from '@webhooks/testkit';
import { IN_FORCE_MS } from '../../in-force.js';
import type { Batch, Door } from '../door.js';
import { FUZZ_TENANTS } from '../fuzz-world.js';
import type { FuzzWorld } from '../fuzz-world.js';
import type { Notes } from '../notes.js';
import { followRecords } from '../topics/follow-records.js';
import type { Following } from '../topics/follow-records.js';
import { makeAnswer, maySucceed } from './make-answer.js';
import type { RawAnswer } from './make-answer.js';

const TENANT = FUZZ_TENANTS.answers;
/** An attempt of 10 s, a wait of 0.2 s and a second attempt, on a loaded machine. */
const SETTLE_DEADLINE_MS = 60_000;
const LOOK_MS = 100;
/** How long a neighbour's event may take meanwhile. */
const NEIGHBOUR_DEADLINE_MS = 15_000;

/** One event, and what the first attempt that arrives is answered with. */
interface Played {
  readonly index: number;
  readonly answer: RawAnswer;
  readonly event: PaymentEvent;
}

/** An answer and, once it is played, the attempt that got it: not the first, when that met a spent connection. */
interface Playing {
  readonly answer: RawAnswer;
  got?: Got;
}
interface Got {
  /** Number of the attempt. */
  readonly by: number;
  /** Unix milliseconds. */
  readonly at: number;
}
/** An answer that came so late, of the 10 s of an attempt, proves nothing: receivers and fuzzer share one busy process. */
const LATE_MS = 5_000;

type Attempts = ReadonlyMap<number, AttemptEntry>;

/** What the delivery worker says of each event's attempts. */
class AttemptLog {
  readonly #byEvent = new Map<string, Map<number, AttemptEntry>>();

  note(value: Buffer | null): void {
    const parsed = parseAttemptPack(value ?? Buffer.alloc(0));
    if (!parsed.ok) return;
    for (const entry of parsed.pack.records) {
      if (entry.kind !== 'attempt' || entry.tenantId !== TENANT) continue;
      const attempts = this.#byEvent.get(entry.eventId) ?? new Map<number, AttemptEntry>();
      this.#byEvent.set(entry.eventId, attempts.set(entry.attempt, entry));
    }
  }

  of(eventId: string): Attempts {
    return this.#byEvent.get(eventId) ?? new Map();
  }

  forget(): void {
    this.#byEvent.clear();
  }
}

const isDelivered = (attempts: Attempts): boolean =>
  [...attempts.values()].some(({ result }) => result === 'delivered');

const wordOf = ({ result, status, error }: AttemptEntry): string =>
  `${result} ${String(status ?? error ?? 'without a class')}`;

/** What speaks against the attempt that got the answer, in words. */
function* faultsOf(answer: RawAnswer, attempt: AttemptEntry, at: number): Generator<string> {
  const { result, status, error } = attempt;
  if (status === undefined && error === undefined) yield 'an attempt without an outcome class';
  if (result === 'delivered' && !maySucceed(answer)) yield `counted as delivered: ${wordOf(attempt)}`;
  const isLate = at - attempt.at > LATE_MS;
  if (result !== 'delivered' && answer.mustSucceed && !isLate)
    yield `not counted as delivered: ${wordOf(attempt)}`;
}

/** Holds an answer against the attempts of its event. */
export function judgeAnswer(
  { index, answer }: Pick<Played, 'index' | 'answer'>,
  got: Got | undefined,
  attempts: Attempts,
  notes: Notes,
): void {
  const shown = answer.bytes;
  const attempt = got && attempts.get(got.by);
  notes.took(attempt ? wordOf(attempt) : 'no attempt');
  if (!attempt) return notes.found(index, 'the attempt that got it is nowhere told of', shown);
  for (const fault of faultsOf(answer, attempt, got.at)) notes.found(index, fault, shown);
  if (!isDelivered(attempts)) notes.found(index, 'not delivered by a later attempt', shown);
}

async function registerAll(client: Client, endpoint: Endpoint, name: string): Promise<void> {
  for (const eventType of EVENT_TYPES)
    await client.register({
      ref: refOf(`/fuzz/${name}/${eventType}`),
      eventType,
      endpointUrl: `${endpoint.origin}/${name}/${eventType}`,
    });
}

/** An event of another tenant for a healthy endpoint; resolves with how long it took, or undefined when it did not come. */
async function askNeighbour(client: Client, arrived: ReadonlySet<string>): Promise<number | undefined> {
  const startedAt = performance.now();
  const id = await client.postEvent(buildEvent({ tenantId: FUZZ_TENANTS.neighbour }));
  while (!arrived.has(id)) {
    if (performance.now() - startedAt > NEIGHBOUR_DEADLINE_MS) return undefined;
    await delay(LOOK_MS);
  }
  return performance.now() - startedAt;
}

class AnswersDoor implements Door {
  readonly name = 'answers';
  readonly batchSize = 150;
  readonly #playing = new Map<string, Playing>();
  /** Connections that a played answer has ended or left in disorder: what is answered there may not be read. */
  readonly #spent = new Set<number>();
  readonly #healthy = new Set<string>();
  readonly #log = new AttemptLog();
  readonly #clients: { readonly own: Client; readonly neighbour: Client };
  #following: Following | undefined;

  constructor(world: FuzzWorld) {
    this.#clients = {
      own: world.clientOf(TENANT),
      neighbour: world.clientOf(FUZZ_TENANTS.neighbour),
    };
  }

  async open(world: FuzzWorld): Promise<void> {
    const endpoint = await world.openEndpoint((arrival) => this.#answer(arrival));
    const healthy = await world.openEndpoint(({ id }) => {
      this.#healthy.add(id);
      return 200;
    });
    await registerAll(this.#clients.own, endpoint, 'answers');
    await registerAll(this.#clients.neighbour, healthy, 'neighbour');
    const { kafkaBrokers } = world.stack.description();
    this.#following = await followRecords(kafkaBrokers, [TOPICS.attempts], ({ value }) =>
      this.#log.note(value),
    );
    await delay(IN_FORCE_MS);
  }

  async take({ from, to, randomOf }: Batch, notes: Notes): Promise<void> {
    const played: Played[] = [];
    for (let index = from; index < to; index += 1) {
      const random = randomOf(index);
      const answer = makeAnswer(random);
      // An id of this run: the same fact may have been played before.
      const event = buildEvent({ tenantId: TENANT, id: `fuzz_${index}_${random.text(8)}` }, random);
      played.push({ index, answer, event });
      this.#playing.set(event.id, { answer });
    }
    await this.#clients.own.postEvents(played.map(({ event }) => event));
    const tookMs = await askNeighbour(this.#clients.neighbour, this.#healthy);
    if (tookMs === undefined) notes.found(to - 1, "a neighbour's event did not arrive meanwhile", '');
    await this.#untilDelivered(played);
    for (const one of played)
      judgeAnswer(one, this.#playing.get(one.event.id)?.got, this.#log.of(one.event.id), notes);
    this.#log.forget();
    this.#playing.clear();
    this.#healthy.clear();
  }

  async close(): Promise<void> {
    await this.#following?.close();
  }

  /** What arrives again is answered well. */
  #answer({ id, headers, connection }: Arrival): number | Answer {
    if (this.#spent.has(connection)) return { kind: 'cut', stage: 'before-answer' };
    const playing = this.#playing.get(id);
    if (playing === undefined || playing.got !== undefined) return 200;
    playing.got = { by: Number(headers['webhook-attempt']), at: Date.now() };
    this.#spent.add(connection);
    const { bytes, then } = playing.answer;
    return { kind: 'raw', bytes, then };
  }

  async #untilDelivered(played: readonly Played[]): Promise<void> {
    const deadline = performance.now() + SETTLE_DEADLINE_MS;
    const isOpen = ({ event }: Played): boolean => !isDelivered(this.#log.of(event.id));
    while (played.some(isOpen) && performance.now() < deadline) await delay(LOOK_MS);
  }
}

/** Answers of receivers: the first attempt of each event that arrives gets a mutant, the next one a 200. */
export async function openAnswersDoor(world: FuzzWorld): Promise<Door> {
  const door = new AnswersDoor(world);
  await door.open(world);
  return door;
}
