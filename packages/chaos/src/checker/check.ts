import type { Evidence } from '../evidence/evidence.js';
import { openCaseFile } from './case-file.js';
import { checkLog, checkTransactions } from './check-answers.js';
import { checkChanges } from './check-changes.js';
import { checkContent } from './check-content.js';
import { checkFates } from './check-fates.js';
import type { Totals } from './check-fates.js';
import { checkRedeliveries } from './check-redeliveries.js';
import { checkRepeats } from './check-repeats.js';
import type { RepeatTotals } from './check-repeats.js';
import { checkDead, checkSchedule } from './check-schedule.js';
import type { Finding } from './finding.js';
import { tellStory } from './story.js';

export interface ToldFinding extends Finding {
  /** Only of the first ones of a kind that are about a delivery. */
  readonly story?: readonly string[];
}

export interface Verdict {
  readonly totals: Totals & RepeatTotals;
  readonly findings: readonly ToldFinding[];
}

/** Stories told for each kind of finding; all findings are counted. */
const STORIES = 2;

const checkSteps = ({ steps }: Evidence): readonly Finding[] =>
  steps
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ fault, target, why }) => ({ kind: 'not-back', text: `${fault} ${target}: ${why ?? ''}` }));

/** Holds the ledgers against each other. Pure: the same evidence gives the same verdict. */
export function check(evidence: Evidence): Verdict {
  const file = openCaseFile(evidence);
  const fates = checkFates(file, evidence);
  const repeats = checkRepeats(file, evidence);
  const findings = [
    ...fates.findings,
    ...checkContent(file, evidence),
    ...checkSchedule(file, evidence),
    ...checkDead(file, evidence),
    ...repeats.findings,
    ...checkChanges(file, evidence),
    ...checkLog(file, evidence),
    ...checkTransactions(evidence),
    ...checkRedeliveries(file, evidence),
    ...checkSteps(evidence),
  ];
  const told = new Map<string, number>();
  const withStories = findings.map((finding) => {
    const delivery = file.deliveries.get(finding.deliveryId ?? '');
    const nth = (told.get(finding.kind) ?? 0) + 1;
    if (!delivery || nth > STORIES) return finding;
    told.set(finding.kind, nth);
    return { ...finding, story: tellStory(delivery, evidence) };
  });
  return { totals: { ...fates.totals, ...repeats.totals }, findings: withStories };
}
