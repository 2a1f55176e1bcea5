import { deliveryIdOf, EVENT_TYPES, makeTestEvent } from '@webhooks/contracts';
import type { AttemptLogEntry, EventType } from '@webhooks/contracts';
import type { ApiRequest } from '@webhooks/http-api';
import { toDelivery, toRow } from '../src/delivery-log/delivery-documents.js';
import { mergeEntries } from '../src/delivery-log/merge-entries.js';
import type { DeliveryEntry } from '../src/delivery-log/merge-entries.js';
import { viewDelivery, viewSummary } from '../src/delivery-log/view-delivery.js';
import { addEntry, emptyBucket } from '../src/endpoint-health/health-bucket.js';
import { viewHealth } from '../src/endpoint-health/view-health.js';
import { toRow as toEventRow } from '../src/payments/event-store.js';
import { mergeEvents } from '../src/payments/merge-events.js';
import { viewCharge, viewEvent, viewTransaction } from '../src/payments/view-transaction.js';
import { REDELIVERABLE, viewJob } from '../src/redelivery/redelivery-store.js';
import { cycleOf } from '../src/redelivery/redelivery-task.js';
import { readRedeliveryRequest } from '../src/redelivery/start-redelivery.js';
import { faultOf } from './support/openapi.js';

const tenantId = 'acme';
const ref = '0190f3c2-7b1a-7c3e-9f54-2d6c8a1b0e4f';
const jobId = '0193510a-7c1e-7b1a-9f54-2d6c8a1b0e4f';
const outgoing: EventType = 'PIX_OUT';
const now = new Date('2026-11-21T14:03:27.512Z');

const deliveryId = deliveryIdOf(tenantId, ref, 'evt_1');
const base = {
  ...{ deliveryId, cycle: '0', eventId: 'evt_1', eventType: outgoing, tenantId, ref, revision: 1 },
  ...{ attempt: 1, at: now.getTime(), source: { topic: 'payments.events', partition: 4, offset: '77' } },
} as const;
const failed: AttemptLogEntry = {
  ...{ kind: 'attempt', ...base, durationMs: 12.4, result: 'failed', error: 'TLS' },
  nextAt: now.getTime() + 1,
};

const HISTORIES: readonly (readonly [string, readonly DeliveryEntry[]])[] = [
  ['delivered', [{ kind: 'attempt', ...base, durationMs: 0.4, result: 'delivered', status: 200 }]],
  ['pending', [failed]],
  ['pending', [failed, { kind: 'deferred', ...base, attempt: 2, nextAt: now.getTime() }]],
  ['cancelled', [{ kind: 'cancelled', ...base, reason: 'disabled' }]],
  ['dead', [{ kind: 'dead', ...base, reason: 'expired' }]],
  ['pending', [failed, { ...failed, cycle: cycleOf(jobId) }]],
];

const RELATED = {
  event: toEventRow(makeTestEvent({ tenantId, eventType: 'PIX_DYNAMIC_PAID' }, 'evt_1', now), {
    heardAt: now,
  }),
  webhook: { endpointUrl: 'https://hook.acme.com.br/pix' },
};

/** Why a value does not fit a schema of the document; undefined when it does. */
const fault = (name: string, value: unknown): string | undefined =>
  faultOf({ $ref: `#/components/schemas/${name}` }, JSON.parse(JSON.stringify(value)));

describe('openapi.yaml describes', () => {
  it.each(HISTORIES)('the response for a delivery that is %s', (status, entries) => {
    const delivery = mergeEntries(undefined, entries);
    const view = viewDelivery(delivery, RELATED);
    expect(view.status).toBe(status);
    expect(fault('Delivery', view)).toBeUndefined();
    const summary = viewSummary(toDelivery(toRow(delivery, 1)), { event: undefined, webhook: undefined });
    expect(fault('DeliveryList', { data: [summary], results: 1 })).toBeUndefined();
    expect(fault('DeliveryList', { data: [view], results: 1 })).toBeDefined();
  });

  it.each(EVENT_TYPES)(
    'what the queries answer of a %s, the test notification that it is included',
    (eventType) => {
      for (const id of ['evt_test_1', 'evt_1']) {
        const event = makeTestEvent({ tenantId, eventType }, id, now);
        const transaction = mergeEvents(event.data.endToEndId, [event]);
        expect(fault('Transaction', viewTransaction(transaction))).toBeUndefined();
        const list = { data: [viewEvent(event)], results: 1 };
        expect(fault('TransactionList', list)).toBeUndefined();
        const { txId } = event.data as { readonly txId?: string };
        if (eventType !== 'PIX_DYNAMIC_PAID' || txId === undefined) continue;
        const charge = viewCharge(txId, [transaction]);
        expect(charge).toMatchObject({ status: 'CONCLUIDA' });
        expect(fault('Charge', charge)).toBeUndefined();
      }
    },
  );

  it('the response for a charge of which only a reversal is known', () => {
    const txId = 'a'.repeat(26);
    const event = makeTestEvent({ tenantId, eventType: 'PIX_REVERSAL' }, 'evt_1', now);
    if (event.eventType !== 'PIX_REVERSAL') throw new Error('expected a reversal');
    const data = { ...event.data, txId, reason: 'MD06', requestedAt: event.occurredAt };
    const charge = viewCharge(txId, [mergeEvents(data.endToEndId, [{ ...event, data }])]);
    expect(charge).toMatchObject({ status: 'ATIVA', pix: [{ reversals: [{ reason: 'MD06' }] }] });
    expect(fault('Charge', charge)).toBeUndefined();
  });

  it('the health of an endpoint in each state', () => {
    const empty = emptyBucket(failed);
    const thrice = [failed, failed, failed].reduce(addEntry, empty);
    const deferred = addEntry(thrice, { kind: 'deferred', ...base, nextAt: now.getTime() + 60_000 });
    const first = { at: now.getTime(), error: 'TLS' };
    const episode = { first, last: first, attempts: 3 };
    const view = (parts: Parameters<typeof viewHealth>[1], buckets: Parameters<typeof viewHealth>[2]) =>
      viewHealth(ref, parts, buckets, now.getTime() + 1);
    const states = [
      ...[[], [addEntry(empty, failed)]].map((buckets) => view({ enabled: true }, buckets)),
      ...[[thrice], [deferred]].map((buckets) => view({ enabled: true, episode }, buckets)),
      view({ enabled: false, episode }, [deferred]),
    ];
    expect(states.map(({ state }) => state)).toEqual(['idle', 'healthy', 'failing', 'paused', 'disabled']);
    for (const state of states) expect(fault('EndpointHealth', state)).toBeUndefined();
  });

  it.each(['running', 'completed', 'cancelled'] as const)('a redelivery that is %s', (state) => {
    const counts = { sent: 0, refused: 1, expired: 2 };
    const filter = { ref, eventType: 'PIX_OUT', status: 'dead', from: now, to: now } as const;
    const matched = { matched: 3, matchedIsLowerBound: true };
    const times = { leaseUntil: now, createdAt: now, updatedAt: now };
    const startedBy = { client: 'console', person: '0193510a' };
    const job = { _id: jobId, tenantId, startedBy, filter, state, ...matched, counts, ...times };
    expect(fault('Redelivery', viewJob(job))).toBeUndefined();
    expect(fault('Redelivery', { ...viewJob(job), tenantId })).toBeDefined();
    const list = { data: [viewJob(job)], results: 1, nextCursor: jobId };
    expect(fault('RedeliveryList', list)).toBeUndefined();
  });
});

describe('openapi.yaml allows in a redelivery request', () => {
  const isTaken = (body: unknown): boolean => {
    const request: Partial<ApiRequest> = {
      header: () => 'application/json',
      body: Buffer.from(JSON.stringify(body)),
    };
    try {
      readRedeliveryRequest(request as ApiRequest);
      return true;
    } catch {
      return false;
    }
  };
  const from = '2026-11-21T00:00:00Z';

  it.each<[boolean, object]>([
    [true, { from }],
    ...REDELIVERABLE.map((status): [boolean, object] => [true, { from, status }]),
    [true, { from, to: '2026-11-21T14:03:27.512345678Z', ref, eventType: 'PIX_OUT', dryRun: true }],
    [false, {}],
    [false, { from: '2026-02-30T00:00:00Z' }],
    [false, { from: '2026-11-21' }],
    [false, { from, status: 'pending' }],
    [true, { from, ref: ref.toUpperCase() }],
    [false, { from, eventType: 'PIX_OTHER' }],
    [false, { from, dryRun: 'true' }],
    [false, { from, limit: 5 }],
  ])('%s: %j, as the code does', (expected, body) => {
    expect(isTaken(body)).toBe(expected);
    expect(fault('RedeliveryRequest', body) === undefined).toBe(expected);
  });
});
