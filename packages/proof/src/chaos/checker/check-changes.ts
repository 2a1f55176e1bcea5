import { createHmac } from 'node:crypto';
import { IN_FORCE_MS } from '@webhooks/testkit/account';
import type { Arrived, Evidence } from '../evidence/evidence.js';
import { isMade } from '../generator/changes.js';
import type { Change, MadeChange } from '../generator/changes.js';
import { judgeEach } from './case-file.js';
import type { CaseFile, Delivery, Fault, Finding } from './case-file.js';

/** The period in which a change is in force, until the next one of its configuration is requested. Unix milliseconds. */
interface Period {
  readonly change: MadeChange;
  readonly from: number;
  readonly to: number;
}

/** Returns the periods of the changes that got a response and were published, oldest first. */
function periodsOf(changes: readonly Change[]): readonly Period[] {
  return changes.flatMap((change, index) => {
    if (!isMade(change)) return [];
    const to = changes[index + 1]?.requestedAt ?? Number.POSITIVE_INFINITY;
    return [{ change, from: change.respondedAt + IN_FORCE_MS, to }];
  });
}

/** Whether an attempt began within the period. The worker reports whole seconds, so the whole second has to lie in it. */
const beganWithin = ({ startedAtSeconds }: Arrived, { from, to }: Period): boolean =>
  1_000 * startedAtSeconds > from && 1_000 * (startedAtSeconds + 1) <= to;

function judgeDisabled({ arrivals, entries }: Delivery, period: Period): Fault | undefined {
  const arrived = arrivals.find((one) => beganWithin(one, period))?.startedAtSeconds;
  const reported = entries.find(
    ({ entry: { kind, at } }) => kind === 'attempt' && at > period.from && at < period.to,
  );
  const late = arrived === undefined ? reported?.entry.at : 1_000 * arrived;
  if (late === undefined) return undefined;
  const afterMs = Math.round(late - period.change.respondedAt);
  return { kind: 'not-in-force', text: `an attempt began ${afterMs} ms after the response that disabled it` };
}

function judgeMoved({ arrivals }: Delivery, period: Period, expected: string): Fault | undefined {
  const late = arrivals.find((arrived) => arrived.path !== expected && beganWithin(arrived, period));
  if (!late) return undefined;
  return { kind: 'not-in-force', text: `an attempt went to ${late.path} after the move to ${expected}` };
}

/** Verifies one of the signatures with this secret, by Standard Webhooks 1.0.0. Does not use the sender's code. */
function verifySignature({ id, startedAtSeconds, signed }: Arrived, secret: string): boolean {
  if (!signed) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key)
    .update(`${id}.${startedAtSeconds}.${signed.body}`)
    .digest('base64');
  return signed.signature.split(' ').includes(`v1,${expected}`);
}

/** Each attempt under a secret that is in force carries a signature that verifies by it. */
function judgeSigned({ arrivals }: Delivery, period: Period): Fault | undefined {
  const { secret = '' } = period.change;
  const wrong = arrivals.find((arrived) => beganWithin(arrived, period) && !verifySignature(arrived, secret));
  if (!wrong) return undefined;
  return { kind: 'wrong-signature', text: `attempt ${wrong.attempt} is not signed by the secret in force` };
}

function judge(delivery: Delivery, period: Period): Fault | undefined {
  const { requested } = period.change;
  switch (requested.what) {
    case 'disable':
      return judgeDisabled(delivery, period);
    case 'move':
      return judgeMoved(delivery, period, requested.path);
    case 'rotate':
      return judgeSigned(delivery, period);
    case 'enable':
      return undefined; // `checkFates` checks what is then owed
  }
}

/**
 * Checks that config-api lists the last accepted change of each configuration. One whose last change got no response is not checked,
 * because it may or may not have been made.
 */
function checkListed({ configurations, changes, listed }: Evidence): readonly Finding[] {
  const lists = new Map(listed.map(({ ref, path, enabled }) => [ref, `${path}, enabled ${enabled}`]));
  return configurations.flatMap(({ ref, path }) => {
    const last = changes.findLast((change) => change.ref === ref);
    if (last && last.respondedAt === undefined) return [];
    const expectedPath = last?.requested.what === 'move' ? last.requested.path : path;
    const expected = `${expectedPath}, enabled ${last?.requested.what !== 'disable'}`;
    const seen = lists.get(ref) ?? 'nothing';
    const text = `${ref}: config-api lists ${seen}; accepted was ${expected}`;
    return seen === expected ? [] : [{ kind: 'wrong-configuration', text }];
  });
}

/** Every accepted configuration change is in force within a second of its response, until the next one. */
export function checkChanges(file: CaseFile, evidence: Evidence): readonly Finding[] {
  const changesOf = Map.groupBy(evidence.changes, ({ ref }) => ref);
  const periods = new Map([...changesOf].map(([ref, changes]) => [ref, periodsOf(changes)]));
  const findings = judgeEach(file, (delivery) => {
    const own = periods.get(delivery.configuration.ref) ?? [];
    return own.map((period) => judge(delivery, period)).find((one) => one !== undefined);
  });
  return [...findings, ...checkListed(evidence)];
}
