import { PATTERNS, TOPICS, deliveryIdOf, parseAttemptPack, parseDeliveryTask } from '@webhooks/contracts';
import type { OpenApiDocument } from '@webhooks/testkit';
import { FUZZ_TENANTS } from '../fuzz-world.js';
import type { Notes } from '../notes.js';
import { showRecord } from './fuzz-record.js';
import type { WrittenRecord } from './fuzz-record.js';

/** Asks query-api with a token of the records' tenant. */
export interface LogReader {
  readonly origin: string;
  readonly token: string;
  readonly document: OpenApiDocument;
}

const TENANT = FUZZ_TENANTS.topics;
const DELIVERIES = '/integration/v1/webhooks/deliveries';
const LOGGED: ReadonlySet<string> = new Set([TOPICS.attempts, TOPICS.deadLetters]);
const ASK_DEADLINE_MS = 15_000;
const REF = new RegExp(PATTERNS.ref, 'u');

/** A delivery as the log names it. */
interface Named {
  readonly deliveryId: string;
  readonly tenantId: string;
  readonly ref: string;
  readonly eventId: string;
}

/** Deliveries that a record of the log tells of. */
function namedIn({ topic, value, headers }: WrittenRecord): readonly Named[] {
  if (topic === TOPICS.attempts) {
    const parsed = parseAttemptPack(value ?? Buffer.alloc(0));
    return parsed.ok ? parsed.pack.records : [];
  }
  const parsed = topic === TOPICS.deadLetters ? parseDeliveryTask(headers, value) : undefined;
  return parsed?.ok ? [parsed.task] : [];
}

/** Its id is made of what it says, as the log asks for. */
const isItself = ({ deliveryId, tenantId, ref, eventId }: Named): boolean =>
  tenantId === TENANT && REF.test(ref) && deliveryIdOf(tenantId, ref, eventId) === deliveryId;

async function ask(path: string, target: string, reader: LogReader): Promise<readonly string[]> {
  const response = await fetch(`${reader.origin}${target}`, {
    headers: { authorization: `Bearer ${reader.token}` },
    signal: AbortSignal.timeout(ASK_DEADLINE_MS),
  });
  const body: unknown = await response.json();
  if (response.status !== 200) return [`${target} is answered ${response.status}`];
  const contentType = response.headers.get('content-type');
  return reader.document.faultsOfAnswer({ method: 'GET', path, status: 200, contentType, body });
}

/** Ids of the deliveries that have to be in the log; an undamaged record has that of its delivery as its key. */
const deliveriesIn = (record: WrittenRecord): readonly string[] =>
  record.isValid && LOGGED.has(record.topic)
    ? [String(record.key)]
    : namedIn(record)
        .filter(isItself)
        .map(({ deliveryId }) => deliveryId);

/** Every delivery that a readable record tells of is in the log, and the log can be read whatever was written to it. */
export async function judgeLog(
  records: readonly WrittenRecord[],
  reader: LogReader,
  notes: Notes,
): Promise<void> {
  for (const record of records)
    for (const deliveryId of deliveriesIn(record)) {
      const faults = await ask(`${DELIVERIES}/{deliveryId}`, `${DELIVERIES}/${deliveryId}`, reader);
      for (const fault of faults) notes.found(record.index, fault, showRecord(record));
    }
  for (const fault of await ask(DELIVERIES, `${DELIVERIES}?limit=100`, reader))
    notes.found(records.at(-1)?.index ?? 0, `the list of deliveries: ${fault}`, '');
}
