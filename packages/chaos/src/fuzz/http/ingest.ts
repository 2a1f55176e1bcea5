import { TOPICS } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { buildEvent, createRandom } from '@webhooks/testkit';
import type { Random } from '@webhooks/testkit';
import type { Door } from '../door.js';
import { FUZZ_TENANTS } from '../fuzz-world.js';
import type { FuzzWorld } from '../fuzz-world.js';
import { followRecords } from '../topics/follow-records.js';
import { documentOf } from './documents.js';
import { createHttpDoor } from './http-door.js';
import { IngestLedger } from './ingest-ledger.js';
import type { Template } from './request.js';
import { makeTemplate } from './template.js';

const TENANT = FUZZ_TENANTS.ingest;
const EVENTS = '/integration/v1/events';
const MAX_BATCH = 5;

function makeOne(random: Random, token: string): Template {
  const one = (): PaymentEvent => buildEvent({ tenantId: TENANT }, random);
  const value = random.chance(0.6) ? one() : Array.from({ length: random.int(1, MAX_BATCH) }, one);
  const template = makeTemplate({ method: 'POST', path: EVENTS, token, value });
  if (!Array.isArray(value) || random.chance(0.5)) return template;
  return {
    ...template,
    headers: template.headers.map(([name, text]) =>
      name === 'Content-Type' ? [name, 'application/x-ndjson'] : [name, text],
    ),
    body: Buffer.from(value.map((event) => JSON.stringify(event)).join('\n')),
  };
}

/** Not of the door's tenant, whose events are all held against what was accepted. */
const PROBE = buildEvent({ tenantId: FUZZ_TENANTS.neighbour }, createRandom(1));

/** Bodies, headers, paths and bytes for ingest; what it accepts has to be on the topic, and nothing else. */
export async function openIngestDoor(world: FuzzWorld): Promise<Door> {
  const token = await world.clientOf(TENANT).token();
  const { kafkaBrokers, ingest } = world.stack.description();
  const ledger = new IngestLedger();
  const records = await followRecords(kafkaBrokers, [TOPICS.events], (record) => ledger.find(record));
  const probe = makeTemplate({
    method: 'POST',
    path: EVENTS,
    token: await world.clientOf(PROBE.tenantId).token(),
    value: PROBE,
  });
  const door = createHttpDoor({
    name: 'ingest',
    origin: ingest,
    document: documentOf('ingest'),
    lanes: 4,
    batchSize: 400,
    template: (random) => makeOne(random, token),
    probe: () => probe,
    note: (asked) => ledger.note(asked),
    settle: async (notes) => {
      await records.untilEnd();
      ledger.settle(notes);
    },
  });
  return { ...door, close: () => records.close() };
}
