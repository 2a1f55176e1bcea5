import { FAILED, later, openGateRig } from './gate-rig.js';
import type { GateRig } from './gate-rig.js';

const PAUSES = [30_000, 60_000, 120_000, 240_000, 480_000, 600_000];

/** A gate whose breaker has opened just now, for so long. */
function downFor(pauseMs: number): GateRig {
  const rig = openGateRig();
  rig.breakDown();
  for (const before of PAUSES) {
    if (before >= pauseMs) break;
    rig.advance(before);
    rig.gate.leave(rig.pass({ waited: true, attempt: 2 }), FAILED);
  }
  return rig;
}

it.each([
  [30_000, 30_500],
  [60_000, 60_500],
  [120_000, 120_500],
  [240_000, 240_500],
  [480_000, 482_000],
  [600_000, 600_500],
])('a retry waits %d ms until the next probe, a first attempt %d ms, in whole tiers', (retryMs, firstMs) => {
  const { knock } = downFor(retryMs);
  expect([later(knock({ attempt: 2 })).waitMs, later(knock()).waitMs]).toEqual([retryMs, firstMs]);
});

it.each(PAUSES)(
  'a retry that is parked late in a pause of %d ms comes before the first attempts',
  (pauseMs) => {
    const { knock, advance } = downFor(pauseMs);
    const first: number[] = [];
    let passedMs = 0;
    for (const afterMs of [0, 10, 200, 690, 3_000]) {
      advance(afterMs);
      passedMs += afterMs;
      first.push(passedMs + later(knock()).waitMs);
    }
    expect(passedMs + later(knock({ attempt: 2 })).waitMs).toBeLessThan(Math.min(...first));
  },
);
