import { encodeEvent } from '@webhooks/contracts';
import type { PaymentEvent } from '@webhooks/contracts';
import { buildEvent } from '@webhooks/testkit';
import { FUZZ_TENANTS } from '../../src/fuzz/fuzz-world.js';
import { IngestLedger } from '../../src/fuzz/http/ingest-ledger.js';
import { Notes } from '../../src/fuzz/notes.js';

const first = buildEvent({ tenantId: FUZZ_TENANTS.ingest, eventType: 'PIX_STATIC' });
/** The same fact, hence the same id, told otherwise. */
const second = { ...first, data: { ...first.data, amount: '987654.32' } } as PaymentEvent;

/** What is wrong when both were accepted under one id and these stand on the topic. */
function faultsWith(found: readonly PaymentEvent[]): readonly string[] {
  const ledger = new IngestLedger();
  for (const [index, event] of [first, second].entries()) {
    const body = Buffer.from(JSON.stringify(event));
    const answer = { status: 202, headers: new Map(), body: Buffer.from(JSON.stringify({ id: event.id })) };
    const request = { method: 'POST', bytes: body, body, isWire: false };
    ledger.note({ index, request, answers: [answer] });
  }
  for (const [offset, event] of found.entries())
    ledger.find({
      ...{ topic: 'payments.events', partition: 0, offset, key: null, value: encodeEvent(event) },
      headers: { ce_id: event.id, ce_source: 'ingest' },
    });
  const notes = new Notes('ingest');
  ledger.settle(notes);
  return notes.findings.map(({ index, what }) => `${index} ${what.slice(0, 9)}`);
}

it('two posts that are accepted under one id both have to be on the topic', () => {
  expect(faultsWith([first, second])).toEqual([]);
  expect(faultsWith([second])).toEqual(['0 accepted ']);
  expect(faultsWith([first])).toEqual(['1 accepted ']);
  expect(faultsWith([])).toEqual(['0 accepted ', '1 accepted ']);
});
