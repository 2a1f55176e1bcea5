import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Evidence } from '../../../src/chaos/evidence/evidence.js';
import type { Change } from '../../../src/chaos/generator/changes.js';
import {
  CONFIGURATION,
  REF,
  SECRET,
  arrived,
  at,
  dead,
  deliveryId,
  entry,
  event,
  evidence,
  kinds,
  flaky,
  nowhere,
  place,
  signedArrival,
  step,
  task,
} from './evidence-builder.js';

const refused = {
  arrivals: [arrived(0.1, { status: 503 })],
  log: new Map([[deliveryId, 'pending' as const]]),
};
const failed = entry(0.1, { result: 'failed', status: 503 });
const retried = {
  arrivals: [arrived(0.1, { status: 503 }), arrived(1.2, { attempt: 2 })],
  topics: { tasks: [task(0.1)], entries: [failed, entry(1.2, { attempt: 2 })] },
};
const changed = (
  treatment: 'toggled' | 'moved' | 'signed',
  requested: Change['requested'],
  over: object,
): Evidence =>
  evidence({
    configurations: [{ ...CONFIGURATION, treatment }],
    changes: [{ ref: REF, requested, requestedAt: at(1), respondedAt: at(1.2), secret: SECRET }],
    ...over,
  });
const oneCentMore = (Number(event.data.amount) + 0.01).toFixed(2);
const [once, none] = [
  { events: 1, amount: event.data.amount },
  { events: 0, amount: '0.00' },
];
const STATEMENT = { ref: REF, events: once, delivered: once, dead: none, cancelled: none, waiting: none };
const off = [{ ref: REF, enabled: false, path: CONFIGURATION.path }];
const OLD_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const away = `${CONFIGURATION.path}/elsewhere`;

it.each<[string, Evidence]>([
  ['a delivery at once', evidence()],
  ['its statement', evidence({ statements: [STATEMENT] })],
  ['a delivery with a retry', evidence(retried)],
])('good evidence gives no finding: %s', (_, good) => {
  expect(kinds(good)).toEqual([]);
});

/** What a bug leaves behind, and what is found. */
const MUTANTS: readonly (readonly [string, Evidence, string])[] = [
  [
    'accepted before Kafka has it',
    evidence({ ...nowhere, topics: { entries: [], copies: new Map() } }),
    'lost',
  ],
  ['the event committed before it is sent', evidence(nowhere), 'lost'],
  ['a retry dropped: no task', evidence({ ...refused, topics: { entries: [failed] } }), 'lost'],
  [
    'a retry committed before it is sent',
    evidence({ ...refused, topics: { entries: [failed], tasks: [task(0.1)] } }),
    'lost',
  ],
  [
    'a retry that is never read',
    evidence({
      ...refused,
      topics: { entries: [failed], tasks: [task(0.1, { place: place('webhooks.retries.1s', 100) })] },
    }),
    'not-recovered',
  ],
  ['a body changed', evidence({ arrivals: [arrived(0.1, { digest: 'other' })] }), 'other-bytes'],
  ['an event made up', evidence({ arrivals: [arrived(0.1), arrived(1, { id: 'evt_other' })] }), 'invented'],
  [
    'a record that cannot be read',
    evidence({ topics: { unreadable: [place('webhooks.attempts', 1)] } }),
    'rejected',
  ],
  [
    'an attempt early',
    evidence({ ...retried, arrivals: [arrived(0.1, { status: 503 }), arrived(0.9, { attempt: 2 })] }),
    'too-early',
  ],
  [
    'a retry planned early',
    evidence({ ...retried, topics: { ...retried.topics, tasks: [task(0.1, { dueAt: at(0.2) })] } }),
    'wrong-delay',
  ],
  [
    'a retry without a task',
    evidence({ ...retried, topics: { ...retried.topics, tasks: [] } }),
    'unscheduled-attempt',
  ],
  [
    'one attempt more than there are',
    evidence({ arrivals: [arrived(0.1), arrived(9, { attempt: 4, status: 500 })] }),
    'too-many-attempts',
  ],
  [
    'each notification posted twice',
    evidence({ arrivals: [arrived(0.1), arrived(0.2)] }),
    'unexplained-repeat',
  ],
  [
    'dead after the first attempt',
    evidence({
      ...flaky,
      ...{ arrivals: [], log: new Map([[deliveryId, 'dead' as const]]) },
      topics: { entries: [], dead: [dead(1, { attempt: 1 })] },
    }),
    'died-early',
  ],
  [
    'a disabled endpoint posted to',
    changed('toggled', { what: 'disable' }, { listed: off, arrivals: [arrived(9)] }),
    'not-in-force',
  ],
  [
    'a retry to where the endpoint was before',
    changed(
      'moved',
      { what: 'move', path: away },
      {
        ...{ arrivals: [arrived(9)], listed: [{ ref: REF, enabled: true, path: away }] },
      },
    ),
    'not-in-force',
  ],
  [
    'an old secret used',
    changed('signed', { what: 'rotate' }, { arrivals: [signedArrival(9, OLD_SECRET)] }),
    'wrong-signature',
  ],
  ['a change that is forgotten', changed('toggled', { what: 'disable' }, {}), 'wrong-configuration'],
  ['an entry that is not projected', evidence({ log: new Map() }), 'wrong-log'],
  [
    'a transaction that is not projected',
    evidence({ transactions: [{ endToEndId: event.data.endToEndId, amount: undefined }] }),
    'wrong-transaction',
  ],
  ['no statement of a webhook', evidence({ statements: [] }), 'wrong-statement'],
  [
    'a delivery counted twice',
    evidence({ statements: [{ ...STATEMENT, delivered: { ...once, events: 2 } }] }),
    'wrong-statement',
  ],
  [
    'a cent too much',
    evidence({ statements: [{ ...STATEMENT, events: { ...once, amount: oneCentMore } }] }),
    'wrong-statement',
  ],
  [
    'another amount projected',
    evidence({ transactions: [{ endToEndId: event.data.endToEndId, amount: '0.01' }] }),
    'wrong-transaction',
  ],
  ['a process that stays away', evidence({ steps: [step(1, 2, { outcome: 'failed' })] }), 'not-restored'],
];

it.each(MUTANTS)('a bug is found: %s', (_, mutant, kind) => {
  expect(kinds(mutant)).toContain(kind);
});

it('chaos.md names every kind of finding', () => {
  const readme = readFileSync(join(import.meta.dirname, '..', '..', '..', 'chaos.md'), 'utf8');
  const [, table = ''] = readme.split('| is found as');
  const named = [...(table.split('\n\n')[0] ?? '').matchAll(/`([a-z-]+)`/g)].map(([, kind]) => kind);
  // A run whose world does not stop has no evidence for that.
  expect(new Set(named)).toEqual(new Set([...MUTANTS.map(([, , kind]) => kind), 'not-stopped']));
});
