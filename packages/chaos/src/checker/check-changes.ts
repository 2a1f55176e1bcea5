import type { Arrived, Evidence } from '../evidence/evidence.js';
import { isMade } from '../generator/changes.js';
import type { Change, MadeChange } from '../generator/changes.js';
import { wrongBy } from '../whims/clock.js';
import { movedPath } from '../world/configurations.js';
import type { Configuration } from '../world/configurations.js';
import type { CaseFile, Delivery } from './case-file.js';
import type { Finding } from './finding.js';
import { IN_FORCE_MS } from '../in-force.js';
import { verifySignature } from './verify-signature.js';
import { toldAt } from './wrong-clock.js';

/** From when a change is in force until the next one of its configuration was asked for. Unix milliseconds. */
interface Reign {
  readonly change: MadeChange;
  readonly from: number;
  readonly to: number;
}

/** Reigns of the changes that were answered and published, oldest first. */
function reignsOf(changes: readonly Change[]): readonly Reign[] {
  return changes.flatMap((change, index) => {
    if (!isMade(change)) return [];
    const to = changes[index + 1]?.askedAt ?? Number.POSITIVE_INFINITY;
    return [{ change, from: change.answeredAt + IN_FORCE_MS, to }];
  });
}

/** The second in which an attempt began, Unix milliseconds, by a clock that did not jump. */
function secondOf({ startedAtSeconds, receivedAt }: Arrived): number {
  const told = startedAtSeconds * 1_000;
  return told - wrongBy(told, receivedAt);
}

/** The worker's clock is told in whole seconds: the attempt began in the second from then on. */
const beganWithin = (arrived: Arrived, { from, to }: Reign): boolean =>
  secondOf(arrived) > from && secondOf(arrived) + 1_000 <= to;

type Fault = Pick<Finding, 'kind' | 'text'>;

function judgeDisabled(delivery: Delivery, reign: Reign): Fault | undefined {
  const late = [
    ...delivery.arrivals.filter((arrived) => beganWithin(arrived, reign)).map(secondOf),
    ...delivery.entries
      .filter(({ entry }) => entry.kind === 'attempt')
      .map(toldAt)
      .filter((at) => at > reign.from && at < reign.to),
  ];
  const [first] = late;
  if (first === undefined) return undefined;
  const afterMs = Math.round(first - reign.change.answeredAt);
  return { kind: 'not-in-force', text: `an attempt began ${afterMs} ms after the answer that disabled it` };
}

function judgeMoved(delivery: Delivery, reign: Reign, right: string): Fault | undefined {
  const late = delivery.arrivals.find((arrived) => arrived.path !== right && beganWithin(arrived, reign));
  if (!late) return undefined;
  return {
    kind: 'not-in-force',
    text: `an attempt went to ${late.path} after the move to ${right} was in force`,
  };
}

/** Each attempt under a secret that is in force carries a signature that verifies by it. */
function judgeSigned(delivery: Delivery, { change, ...reign }: Reign): Fault | undefined {
  const { secret = '' } = change;
  const wrong = delivery.arrivals.find(
    (arrived) => beganWithin(arrived, { change, ...reign }) && !verifySignature(arrived, secret),
  );
  if (!wrong) return undefined;
  return { kind: 'wrong-signature', text: `attempt ${wrong.attempt} is not signed by the secret in force` };
}

function judge(delivery: Delivery, reign: Reign): Fault | undefined {
  const { asked } = reign.change;
  switch (asked.what) {
    case 'disable':
      return judgeDisabled(delivery, reign);
    case 'move':
      return judgeMoved(delivery, reign, asked.path);
    case 'rotate':
      return judgeSigned(delivery, reign);
    case 'enable':
      return undefined; // what is owed then is looked at with the fates
  }
}

/** What config-api should list in the end; undefined when the last change had no answer. */
function expectedAtEnd(
  configuration: Configuration,
  changes: readonly Change[],
): { readonly enabled: boolean; readonly path: string } | undefined {
  const last = changes.at(-1);
  if (last && last.answeredAt === undefined) return undefined;
  const enabled = configuration.treatment !== 'toggled' || last?.asked.what !== 'disable';
  const isAway = last?.asked.what === 'move' && last.asked.path === movedPath(configuration);
  return { enabled, path: isAway ? movedPath(configuration) : configuration.path };
}

function checkListed({ configurations, changes, listed }: Evidence): readonly Finding[] {
  const byRef = new Map(listed.map((one) => [one.ref, one]));
  const changesOf = Map.groupBy(changes, ({ ref }) => ref);
  return configurations.flatMap((configuration) => {
    const found = byRef.get(configuration.ref);
    const expected = expectedAtEnd(configuration, changesOf.get(configuration.ref) ?? []);
    if (!expected || (found?.enabled === expected.enabled && found.path === expected.path)) return [];
    const seen = found ? `${found.path}, enabled ${found.enabled}` : 'nothing';
    const text = `${configuration.ref}: config-api lists ${seen}; accepted was ${expected.path}, enabled ${expected.enabled}`;
    return [{ kind: 'wrong-configuration' as const, text }];
  });
}

/** Every accepted configuration change is in force within a second of its answer, and stays. */
export function checkChanges({ deliveries }: CaseFile, evidence: Evidence): readonly Finding[] {
  const changesOf = Map.groupBy(evidence.changes, ({ ref }) => ref);
  const reigns = new Map([...changesOf].map(([ref, changes]) => [ref, reignsOf(changes)]));
  const findings: Finding[] = [];
  for (const delivery of deliveries.values()) {
    const { deliveryId, sent, configuration } = delivery;
    const own = reigns.get(configuration.ref) ?? [];
    const fault = own.map((reign) => judge(delivery, reign)).find((one) => one !== undefined);
    if (!fault) continue;
    const text = `${sent.event.id} for ${configuration.path}: ${fault.text}`;
    findings.push({ kind: fault.kind, text, deliveryId });
  }
  return [...findings, ...checkListed(evidence)];
}
