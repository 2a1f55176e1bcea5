import { check } from '../../../src/chaos/checker/check.js';
import type { Change } from '../../../src/chaos/generator/changes.js';
import {
  CONFIGURATION,
  REF,
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
  step,
  task,
  undelivered,
} from './evidence-builder.js';

const sentOnly = new Map([[event.id, { event, ingress: 'ingest' as const, sentAt: at(0) }]]);

describe('accepted is delivered, waiting, dead or cancelled', () => {
  it('balances when the 2xx was given', () => {
    expect(check(evidence())).toEqual({
      totals: {
        ...{ acceptedEvents: 1, accepted: 1, delivered: 1, waiting: 0, dead: 0, cancelled: 0, lost: 0 },
        ...{ repeats: 0, slowestMs: 90, recoveryMs: 0 },
      },
      findings: [],
    });
  });

  it('lost: it is neither delivered nor waiting, though its event on the topic is handled; its timeline says where it was last', () => {
    const { totals, findings } = check(evidence({ ...nowhere, steps: [step(0.5, 4)] }));
    expect(totals).toMatchObject({ accepted: 1, lost: 1 });
    expect(findings).toMatchObject([{ kind: 'lost' }]);
    expect(findings[0]?.timeline).toEqual([
      `${new Date(at(0)).toISOString()} sent to ingest`,
      expect.stringContaining('event at payments.events/0 offset 5, handled'),
      expect.stringContaining('accepted'),
      'faults around the last moment: kill delivery-worker',
    ]);
  });

  it('lost: it was acknowledged and never stood on the topic', () => {
    const { findings } = check(evidence({ ...nowhere, topics: { entries: [], copies: new Map() } }));
    expect(findings).toMatchObject([{ kind: 'lost' }]);
    expect(findings[0]?.timeline?.join()).not.toContain('event at');
  });

  it('lost: its retry was handled, and nothing came of it', () => {
    const failed = entry(0.1, { result: 'failed', status: 503 });
    const topics = { entries: [failed], tasks: [task(0.1)] };
    const log = new Map([[deliveryId, 'pending' as const]]);
    expect(kinds(evidence({ arrivals: [arrived(0.1, { status: 503 })], log, topics }))).toEqual(['lost']);
  });

  it('waits while its event, or its retry, is beyond what was handled', () => {
    const waiting = [
      { copies: new Map([[event.id, [place('payments.events', 100)]]]), entries: [] },
      { tasks: [task(0.1, { place: place('webhooks.retries.1s', 100) })], entries: [] },
    ];
    for (const topics of waiting)
      expect(check(evidence({ ...undelivered, ...flaky, topics })).totals).toMatchObject({
        waiting: 1,
        lost: 0,
      });
  });

  it('not recovered: it still waits though its endpoint is well', () => {
    const copies = new Map([[event.id, [place('payments.events', 100)]]]);
    expect(kinds(evidence({ ...undelivered, topics: { copies, entries: [] } }))).toEqual(['not-recovered']);
  });

  it('is dead with its last attempt, and dies too early with one before', () => {
    const log = new Map([[deliveryId, 'dead' as const]]);
    const with_ = (attempt: number, reason = 'attempts-exhausted') =>
      evidence({
        ...flaky,
        arrivals: [],
        log,
        topics: { entries: [], dead: [dead(9, { attempt, reason })] },
      });
    expect(check(with_(3))).toMatchObject({ totals: { dead: 1, lost: 0 }, findings: [] });
    expect(kinds(with_(2))).toEqual(['died-early']);
    expect(kinds(with_(3, 'configuration-unknown'))).toEqual(['died-early']);
  });

  it('lost: it was cancelled, and nobody had disabled it', () => {
    const entries = [entry(0.1, { kind: 'cancelled', reason: 'disabled' } as object)];
    const log = new Map([[deliveryId, 'cancelled' as const]]);
    expect(kinds(evidence({ arrivals: [], log, topics: { entries } }))).toEqual(['lost']);
  });

  /** It is disabled so many seconds after the event was appended. */
  const disabledAfter = (seconds: number) => ({
    configurations: [{ ...CONFIGURATION, treatment: 'toggled' as const }],
    listed: [{ ref: REF, enabled: false, path: CONFIGURATION.path }],
    changes: [{ ref: REF, requested: { what: 'disable' as const }, requestedAt: at(seconds) }],
  });

  it('is cancelled, or never begun, when it was disabled before its event was read', () => {
    expect(check(evidence({ ...nowhere, ...disabledAfter(1) }))).toMatchObject({
      totals: { cancelled: 1 },
      findings: [],
    });
  });

  it('lost: it never began, and was disabled long after its event was read', () => {
    expect(kinds(evidence({ ...nowhere, ...disabledAfter(20) }))).toEqual(['lost']);
    const late = (over: Parameters<typeof step>[2] = {}) =>
      kinds(evidence({ ...nowhere, ...disabledAfter(20), steps: [step(4, 10, over)] }));
    expect(late()).toEqual([]);
    expect(late({ target: 'config-api' })).toEqual(['lost']);
    expect(late({ track: 'topics', target: 'payments.events' })).toEqual([]);
    expect(late({ track: 'topics', target: 'webhooks.attempts' })).toEqual(['lost']);
    expect(late({ outcome: 'passed-over' })).toEqual(['lost']);
    const entries = [entry(20.1, { kind: 'cancelled', reason: 'disabled' } as object)];
    const log = new Map([[deliveryId, 'cancelled' as const]]);
    expect(kinds(evidence({ ...undelivered, ...disabledAfter(20), log, topics: { entries } }))).toEqual([]);
  });

  describe('a cancellation is excused by a disabling that was requested before it, and only then', () => {
    const toggle = (what: 'disable' | 'enable', seconds: number, over: object = {}) => ({
      ...{ ref: REF, requested: { what }, requestedAt: at(seconds), respondedAt: at(seconds + 0.2) },
      ...over,
    });
    const OFF = toggle('disable', 10);
    /** Cancelled at this time. */
    const cancelledAt = (seconds: number, changes: readonly Change[], reason = 'disabled') => {
      const reported = { at: at(seconds), kind: 'cancelled', reason } as object;
      const enabled = changes.at(-1)?.requested.what === 'enable';
      return kinds(
        evidence({
          ...{ arrivals: [], changes, log: new Map([[deliveryId, 'cancelled' as const]]) },
          configurations: [{ ...CONFIGURATION, treatment: 'toggled' as const }],
          listed: [{ ref: REF, enabled, path: CONFIGURATION.path }],
          topics: { entries: [entry(seconds, reported)], tasks: [task(0.1)] },
        }),
      );
    };
    const ON = toggle('enable', 14);

    it.each<[string, readonly string[], readonly string[]]>([
      ['before the disabling was requested', cancelledAt(9.9, [OFF]), ['lost']],
      ['after it', cancelledAt(10.1, [OFF]), []],
      [
        'after it, though it had no response',
        cancelledAt(12, [{ ref: REF, requested: OFF.requested, requestedAt: OFF.requestedAt }]),
        [],
      ],
      ['while the enabling behind it was not in force', cancelledAt(15.1, [OFF, ON]), []],
      ['after the enabling behind it was in force', cancelledAt(15.3, [OFF, ON]), ['lost']],
      [
        'after an enabling that was not published',
        cancelledAt(19, [OFF, toggle('enable', 14, { published: false })]),
        [],
      ],
      ['after it was disabled once more', cancelledAt(30.1, [OFF, ON, toggle('disable', 30)]), []],
      ['before it was disabled once more', cancelledAt(29.9, [OFF, ON, toggle('disable', 30)]), ['lost']],
      ['for a reason that nobody gave', cancelledAt(12, [OFF], 'event-type-changed'), ['lost']],
    ])('a cancellation %s', (_, found, expected) => {
      expect(found).toEqual(expected);
    });
  });

  it('lost: its retry was handled, nothing came of it, and it was disabled meanwhile', () => {
    const topics = { entries: [], tasks: [task(0.1)] };
    expect(kinds(evidence({ ...undelivered, ...disabledAfter(1), topics }))).toEqual(['lost']);
  });

  it('promises nothing for what was not accepted and stands nowhere', () => {
    const topics = { entries: [], copies: new Map() };
    expect(check(evidence({ ...undelivered, sent: sentOnly, topics })).totals).toMatchObject({
      acceptedEvents: 0,
      accepted: 0,
    });
  });

  it('owes what stands on the topic without an acknowledgement', () => {
    const { totals, findings } = check(evidence({ ...nowhere, sent: sentOnly }));
    expect(totals).toMatchObject({ acceptedEvents: 0, accepted: 1, lost: 1 });
    expect(findings).toMatchObject([{ kind: 'lost' }]);
    expect(check(evidence({ sent: sentOnly })).totals).toMatchObject({ delivered: 1, slowestMs: 100 });
  });

  it('takes the worker’s report for a broken response, and only for that', () => {
    const odd = [arrived(0.1, { status: 0 })];
    expect(kinds(evidence({ arrivals: odd }))).toEqual([]);
    const topics = { entries: [entry(0.1, { result: 'failed', error: 'SOCKET' })] };
    const log = new Map([[deliveryId, 'pending' as const]]);
    expect(kinds(evidence({ arrivals: odd, log, topics }))).toEqual(['lost']);
  });
});

it('not back: a process that was hit did not come up again', () => {
  const failed = step(1, 2, { outcome: 'failed', why: 'kafka did not come back within 120 s' });
  expect(kinds(evidence({ steps: [failed] }))).toEqual(['not-restored']);
});

it('shows the timelines of two findings of a kind, and counts all', () => {
  const events = Array.from({ length: 5 }, (_, index) => ({ ...event, id: `evt_${index}` }));
  const sent = new Map(
    events.map((one) => [
      one.id,
      { event: one, ingress: 'topic' as const, sentAt: at(0), acceptedAt: at(1) },
    ]),
  );
  const { findings, totals } = check(
    evidence({ ...nowhere, sent, topics: { entries: [], copies: new Map() } }),
  );
  expect(totals.lost).toBe(5);
  expect(findings.filter(({ timeline }) => timeline !== undefined)).toHaveLength(2);
});
