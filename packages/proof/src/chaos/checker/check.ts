import type { Evidence } from '../evidence/evidence.js';
import { openCaseFile } from './case-file.js';
import type { Finding, FindingKind } from './case-file.js';
import { checkChanges } from './check-changes.js';
import { checkContent, checkLog, checkTransactions } from './check-content.js';
import { checkFates } from './check-fates.js';
import type { Totals } from './check-fates.js';
import { checkRepeats, checkSchedule } from './check-attempts.js';
import { timelineOf } from './timeline.js';

/** A finding in words. */
export interface ReportedFinding {
  readonly kind: FindingKind;
  readonly text: string;
  /** Only of the first ones of a kind that are about a delivery. */
  readonly timeline?: readonly string[];
}

export interface Verdict {
  /** `repeats`: further 2xx of deliveries that had one. */
  readonly totals: Totals & { readonly repeats: number };
  readonly findings: readonly ReportedFinding[];
}

/** Timelines for each kind of finding; all findings are counted. */
const TIMELINES = 2;

const checkSteps = ({ steps }: Evidence): readonly Finding[] =>
  steps
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ fault, target, why }) => ({ kind: 'not-back', text: `${fault} ${target}: ${why ?? ''}` }));

function reportAll(findings: readonly Finding[], evidence: Evidence): readonly ReportedFinding[] {
  const byKind = Map.groupBy(findings, ({ kind }) => kind);
  return [...byKind.values()].flatMap((own) =>
    own.map(({ kind, text, delivery }, index) => {
      if (!delivery) return { kind, text };
      const named = `${delivery.sent.event.id} for ${delivery.configuration.path}: ${text}`;
      return index < TIMELINES
        ? { kind, text: named, timeline: timelineOf(delivery, evidence) }
        : { kind, text: named };
    }),
  );
}

/** Holds the delivery accounts against each other. Pure: the same evidence gives the same verdict. */
export function check(evidence: Evidence): Verdict {
  const file = openCaseFile(evidence);
  const fates = checkFates(file, evidence);
  const { repeats, findings } = checkRepeats(file, evidence);
  const all = [
    ...fates.findings,
    ...checkContent(file, evidence),
    ...checkSchedule(file, evidence),
    ...findings,
    ...checkChanges(file, evidence),
    ...checkLog(file, evidence),
    ...checkTransactions(evidence),
    ...checkSteps(evidence),
  ];
  return { totals: { ...fates.totals, repeats }, findings: reportAll(all, evidence) };
}
