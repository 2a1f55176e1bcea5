import { createGate } from '../../src/gate/gate.js';
import type { Gate, GateRules, Pass, PassEnd, Verdict } from '../../src/gate/gate-types.js';
import { buildTask } from '../builders.js';

export const RULES: GateRules = {
  endpointConcurrency: 4,
  maxAttempts: 1_024,
  queueLimit: 1_000,
  breaker: { failures: 10, firstPauseMs: 30_000, maxPauseMs: 600_000 },
};

export const OK: PassEnd = { kind: 'succeeded', durationMs: 10 };
export const FAILED: PassEnd = { kind: 'failed', durationMs: 10, label: '5xx' };

export interface Knock {
  readonly ref?: string;
  readonly tenantId?: string;
  readonly waited?: boolean;
  readonly last?: boolean;
  readonly parkedCount?: number;
  readonly attempt?: number;
  readonly url?: string;
}

const DEFAULTS = {
  ref: 'a',
  tenantId: 'acme',
  waited: false,
  last: false,
  url: '/hook',
  parkedCount: undefined,
  attempt: 1,
};

/** A gate with a clock that stands still until it is moved. */
export interface GateRig {
  readonly gate: Gate;
  /** What the gate says at once, or in the end. */
  readonly knock: (knock?: Knock) => Verdict | Promise<Verdict>;
  /** Throws when it is not let in at once. */
  readonly pass: (knock?: Knock) => Pass;
  readonly advance: (ms: number) => void;
  /** Ten failures in a row. */
  readonly breakDown: (knock?: Knock) => void;
}

export function openGateRig(over: Partial<GateRules> = {}): GateRig {
  let now = 1_000;
  const gate = createGate({ ...RULES, ...over }, () => now);
  const knock: GateRig['knock'] = (given) => {
    const { ref, tenantId, waited, last, url, parkedCount, attempt } = { ...DEFAULTS, ...given };
    const task = buildTask({ ref, tenantId, attempt, parkedCount: parkedCount ?? (waited ? 1 : 0) });
    return gate.enter(task, { origin: 'https://x.example', path: url }, last);
  };
  const pass: GateRig['pass'] = (given) => {
    const verdict = knock(given);
    if (verdict instanceof Promise || verdict.kind !== 'pass') throw new Error('not let in at once');
    return verdict;
  };
  return {
    gate,
    knock,
    pass,
    advance: (ms) => {
      now += ms;
    },
    breakDown: (given) => {
      for (let count = 0; count < 10; count += 1) gate.leave(pass(given), FAILED);
    },
  };
}

/** As many successes as give an endpoint all the slots that it may have. */
export function answerOften({ gate, pass }: Pick<GateRig, 'gate' | 'pass'>, knock: Knock): void {
  for (let count = 0; count < 48; count += 1) gate.leave(pass(knock), OK);
}

/** Knocks so often; gives what was said, or will be. */
export const knockOften = (rig: Pick<GateRig, 'knock'>, times: number, knock: Knock): readonly unknown[] =>
  Array.from({ length: times }, () => rig.knock(knock));

/** How long it is sent away for and why; throws when it is let in or waits in memory. */
export function later(verdict: Verdict | Promise<Verdict>): {
  readonly reason: string;
  readonly waitMs: number;
} {
  if (verdict instanceof Promise || verdict.kind !== 'later') throw new Error('expected to be sent away');
  return { reason: verdict.reason, waitMs: verdict.waitMs };
}
