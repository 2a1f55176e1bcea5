import { encodeEvent } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { FUZZ_TENANTS } from '../fuzz-world.js';
import type { Notes } from '../notes.js';
import type { Followed } from '../topics/follow-records.js';
import type { Asked } from './http-door.js';
import type { HttpAnswer } from './parse-answers.js';

const TENANT = FUZZ_TENANTS.ingest;

interface Accepted {
  readonly index: number;
  readonly bytes: Buffer;
  /** The record's value, when the body tells it without doubt. */
  readonly value?: string;
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The events of a body in the order in which ingest counts them; undefined for what is no JSON. */
function eventsOf(body: Buffer): readonly unknown[] {
  const whole = parse(body.toString('utf8'));
  if (whole !== undefined) return [whole].flat();
  return body
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parse);
}

/** Ids that an answer accepts, each with its place in the request. */
function acceptedIds({ status, body }: HttpAnswer): readonly (readonly [id: string, place: number])[] {
  if (status !== 202) return [];
  const answer = parse(body.toString('utf8')) as {
    readonly id?: string;
    readonly results?: readonly { readonly status: string; readonly id: string; readonly index: number }[];
  };
  if (answer.results === undefined) return [[String(answer.id), 0]];
  return answer.results.flatMap(({ status: of, id, index }) =>
    of === 'accepted' ? [[id, index] as const] : [],
  );
}

/** A posted event may leave its tenant to the service. */
const withTenant = (posted: Omit<PaymentEvent, 'tenantId'> & { tenantId?: string }): PaymentEvent =>
  ({ ...posted, tenantId: posted.tenantId ?? TENANT }) as PaymentEvent;

/** What the topic has to hold of a posted event: the listed fields, and what the service adds. */
const valueOf = (posted: unknown, id: string): string =>
  encodeEvent({ ...withTenant(posted as PaymentEvent), id }).toString('utf8');

const OTHERS: ReadonlySet<string> = new Set(
  Object.values(FUZZ_TENANTS).filter((tenantId) => tenantId !== TENANT),
);
/** Other doors need ingest too. */
const isOurs = (values: ReadonlySet<string>): boolean =>
  ![...values].some((value) => OTHERS.has((parse(value) as PaymentEvent).tenantId));

/** What was accepted, what is on the topic, and how they differ. */
export class IngestLedger {
  /** By id: posts of one fact share it, and each of them is to be found. */
  readonly #accepted = new Map<string, Accepted[]>();
  readonly #found = new Map<string, Set<string>>();
  /** Bodies of requests that got no answer: what they held may be on the topic or not. */
  readonly #unanswered: Buffer[] = [];

  note({ index, request, answers }: Asked): void {
    if (answers.length === 0 || request.isWire) this.#unanswered.push(request.body, request.bytes);
    const events = eventsOf(request.body);
    for (const answer of answers)
      for (const [id, place] of acceptedIds(answer)) {
        const value = request.isWire ? {} : { value: valueOf(events[place], id) };
        const one = { index, bytes: request.bytes, ...value };
        this.#accepted.set(id, [...(this.#accepted.get(id) ?? []), one]);
      }
  }

  find({ headers, value }: Followed): void {
    // Only what ingest wrote: other doors write to this topic too.
    const id = headers['ce_id']?.toString();
    if (id === undefined || headers['ce_source'] === undefined) return;
    this.#found.set(id, (this.#found.get(id) ?? new Set()).add(value?.toString('utf8') ?? ''));
  }

  /** Judges, and forgets what was judged. */
  settle(notes: Notes): void {
    for (const [id, posts] of this.#accepted)
      for (const accepted of posts) this.#judgeAccepted(id, accepted, notes);
    for (const [id, values] of this.#found)
      if (isOurs(values) && !this.#accepted.has(id) && !this.#mayBeUnanswered(values))
        notes.found(-1, `on the topic and never accepted: ${id}`, [...values].join('\n'));
    this.#accepted.clear();
    this.#found.clear();
    this.#unanswered.length = 0;
  }

  #judgeAccepted(id: string, { index, bytes, value }: Accepted, notes: Notes): void {
    const found = this.#found.get(id);
    if (!found) notes.found(index, `accepted ${id}, which is not on the topic`, bytes);
    else if (value !== undefined && !found.has(value))
      notes.found(index, `accepted ${value}, on the topic is ${[...found].join(' and ')}`, bytes);
  }

  /** An event is known by its end-to-end id, which no answer has to tell. */
  #mayBeUnanswered(values: ReadonlySet<string>): boolean {
    return [...values].some((value) => {
      const { data } = parse(value) as PaymentEvent;
      return this.#unanswered.some((bytes) => bytes.includes(data.endToEndId));
    });
  }
}
