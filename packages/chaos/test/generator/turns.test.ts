import type { Change } from '../../src/generator/changes.js';
import { ENABLED_MS, FIRST_TURN, askFor, isDue, turnAfter } from '../../src/generator/turns.js';
import type { Turn } from '../../src/generator/turns.js';
import { CONFIGURATION, REF, T0, at, event, evidence, kinds, nowhere } from '../checker/evidence-builder.js';

const toggled = { ...CONFIGURATION, treatment: 'toggled' as const };
const RUN_MS = 60_000;
const ROUND_MS = 4_000;

/** The changes of a run of one minute in which each is answered after 10 ms; times of the run count from `T0`. */
function changesOfRun(): readonly Change[] {
  const changes: Change[] = [];
  let turn: Turn = FIRST_TURN;
  for (let now = 0; now < RUN_MS; now += ROUND_MS) {
    const asked = askFor(toggled, turn);
    if (!isDue(asked, turn, now, RUN_MS)) continue;
    const change = { ref: REF, asked, askedAt: T0 + now, answeredAt: T0 + now + 10 };
    changes.push(change);
    turn = turnAfter(turn, change, now + 10);
  }
  return changes;
}

describe('a toggled configuration', () => {
  const changes = changesOfRun();

  it('stays enabled for so long that an event which vanishes is missed, and is enabled in the end', () => {
    const [off, on, offAgain] = changes;
    expect([off, on, offAgain].map((change) => change?.asked.what)).toEqual(['disable', 'enable', 'disable']);
    const sentAt = Number(on?.askedAt) + 1_100;
    const sent = new Map([[event.id, { event, door: 'ingest' as const, sentAt, acceptedAt: sentAt }]]);
    const copies = new Map([
      [event.id, [{ topic: 'payments.events', partition: 0, offset: 5, appendedAt: sentAt }]],
    ]);
    const seen = { ...nowhere, configurations: [toggled], sent, changes, topics: { entries: [], copies } };
    expect(kinds(evidence(seen))).toEqual(['lost']);
    expect(changes.at(-1)?.asked.what).toBe('enable');
    expect(Number(changes.findLast(({ asked }) => asked.what === 'disable')?.askedAt)).toBeLessThanOrEqual(
      T0 + RUN_MS - ENABLED_MS,
    );
  });

  const turn = { nth: 3, notBefore: 0 };
  const after = (change: Pick<Change, 'asked'> & Partial<Change>) =>
    turnAfter(turn, { ref: REF, askedAt: at(1), ...change }, 500).nth;

  it('is enabled after a disabling that failed, and again until that is in force', () => {
    expect(after({ asked: { what: 'disable' } })).toBe(4);
    expect(after({ asked: { what: 'enable' } })).toBe(3);
    expect(after({ asked: { what: 'enable' }, answeredAt: at(2), published: false })).toBe(3);
    expect(after({ asked: { what: 'enable' }, answeredAt: at(2) })).toBe(4);
  });

  it('has a pace of its own: any other change is asked for in each round, and again when it failed', () => {
    expect(after({ asked: { what: 'rotate' } })).toBe(3);
    expect(turnAfter(turn, { ref: REF, asked: { what: 'rotate' }, askedAt: 0, answeredAt: 1 }, 500)).toEqual({
      nth: 4,
      notBefore: 500,
    });
    expect(isDue({ what: 'rotate' }, FIRST_TURN, RUN_MS - 1, RUN_MS)).toBe(true);
  });
});
