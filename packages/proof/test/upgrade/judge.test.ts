import { createHash } from 'node:crypto';
import { deliveryIdOf, renderNotification } from '@webhooks/contracts';
import { buildEvent } from '@webhooks/testkit';
import type { Evidence } from '../../src/chaos/evidence/evidence.js';
import { judgeUpgrade } from '../../src/upgrade/judge.js';
import type { UpgradeEvidence } from '../../src/upgrade/judge.js';
import {
  REF,
  arrived,
  at,
  deliveryId,
  entry,
  event,
  evidence,
  place,
  step,
} from '../chaos/checker/evidence-builder.js';

type DoneSwitch = UpgradeEvidence['steps'][number];

const switched = (from: number, to: number, over: Partial<DoneSwitch> = {}): DoneSwitch => ({
  ...step(from, to),
  ...{ service: 'delivery-worker', instance: 'delivery-worker', to: 'new', afterMs: 0 },
  ...over,
});

/** A second event of the same partition, which is sent and delivered that many seconds after the start. */
const later = buildEvent({ tenantId: 'acme', eventType: 'PIX_OUT' });
const DIGEST = createHash('sha256').update(renderNotification(later)).digest('hex');
const laterId = deliveryIdOf('acme', REF, later.id);
function twoEvents(seconds: number) {
  const about = { deliveryId: laterId, eventId: later.id };
  const sentAt = at(seconds - 0.2);
  return evidence({
    sent: new Map([
      [event.id, { event, ingress: 'ingest', sentAt: at(0), acceptedAt: at(0) }],
      [later.id, { event: later, ingress: 'topic', sentAt, acceptedAt: sentAt }],
    ]),
    arrivals: [arrived(0.1), { ...arrived(seconds), id: later.id, digest: DIGEST }],
    log: new Map([
      [deliveryId, 'delivered'],
      [laterId, 'delivered'],
    ]),
    topics: {
      copies: new Map([
        [event.id, [place('payments.events', 5)]],
        [later.id, [place('payments.events', 6)]],
      ]),
      entries: [entry(0.1), entry(seconds, about)],
    },
  });
}

/** What an upgrade adds to good evidence: two switches of a worker, and calls without a failure. */
const upgraded = (seen: Evidence, over: Partial<UpgradeEvidence> = {}): UpgradeEvidence => ({
  ...seen,
  ...{ calls: ['200 GET /a', '202 POST /b'], failures: [], ended: [], planned: 2 },
  ...{ pulled: new Set([event.id, later.id]), redelivered: new Map() },
  steps: [switched(-8, -4), switched(0, 4, { to: 'old' })],
  ...over,
});
const kindsOf = (seen: UpgradeEvidence) => judgeUpgrade(seen).verdict.findings.map(({ kind }) => kind);

/** So many 2xx of one delivery, a tenth of a second apart. */
const repeated = (count: number) =>
  evidence({ arrivals: Array.from({ length: count }, (_, index) => arrived(0.1 + index / 10)) });

it.each([
  ['one delivery', upgraded(evidence())],
  ['a pause of 5 s', upgraded(twoEvents(5.1))],
  ['100 repeats', upgraded(repeated(101))],
  ['a redelivery that arrived', upgraded(repeated(2), { redelivered: new Map([[deliveryId, 1]]) })],
])('good evidence gives no finding: %s', (_, seen) => {
  expect(kindsOf(seen)).toEqual([]);
});

const notAccepted = new Map([[event.id, { event, ingress: 'ingest', sentAt: at(0) } as const]]);
const unmade = { ref: 'another', requested: { what: 'rotate' }, requestedAt: at(1) } as const;

it.each([
  ['a pause of a partition', 'costly-switch', upgraded(twoEvents(5.2))],
  ['101 repeats of one switch', 'costly-switch', upgraded(repeated(102))],
  ['a call that nginx refused', 'failed-call', upgraded(evidence(), { calls: ['503 POST /b'] })],
  ['a call without a response', 'failed-call', upgraded(evidence(), { failures: ['pull: no response'] })],
  ['an event that ingest refused', 'failed-call', upgraded(evidence({ sent: notAccepted }))],
  ['a change without a response', 'failed-call', upgraded(evidence({ changes: [unmade] }))],
  ['an event that was never pulled', 'not-pulled', upgraded(evidence(), { pulled: new Set() })],
  [
    'a redelivery that never arrived',
    'lost',
    upgraded(evidence(), { redelivered: new Map([[deliveryId, 1]]) }),
  ],
  ['an instance that crashed', 'not-restored', upgraded(evidence(), { ended: ['ingest-2'] })],
  ['a run that was cut short', 'not-restored', upgraded(evidence(), { planned: 3 })],
])('%s is found: %s', (_, kind, seen) => {
  expect(kindsOf(seen)).toEqual([kind]);
});

it('a switch answers for the time until the next one', () => {
  const { switches } = judgeUpgrade(upgraded(repeated(4)));
  expect(switches.map(({ to, ms, repeats }) => ({ to, ms, repeats }))).toEqual([
    { to: 'new', ms: 4_000, repeats: 0 },
    { to: 'old', ms: 4_000, repeats: 3 },
  ]);
  const [first, second] = judgeUpgrade(upgraded(twoEvents(2))).switches;
  expect(first?.gapMs).toBe(0);
  expect(second?.gapMs).toBe(1_900);
});
