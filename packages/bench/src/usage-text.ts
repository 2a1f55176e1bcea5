import type { Usage } from './read-usage.js';
import type { Scenario, Sizes } from './scenarios/scenario.js';

const sizeText = ({ count, seconds }: Sizes): string =>
  [...(count > 0 ? [count.toLocaleString('en-US')] : []), ...(seconds > 0 ? [`${seconds} s`] : [])].join(
    ', ',
  );

/** What `--help` prints. */
export function usageText(scenarios: Readonly<Record<string, Scenario>>): readonly string[] {
  const width = Math.max(...Object.keys(scenarios).map((name) => name.length));
  return [
    'npm run bench -- [scenario …] [--count N] [--seconds N] [--whole]',
    '',
    'Without a scenario all of them run, shortened, in about ten minutes. A run whose ledger does not balance is void:',
    'it shows no figure, and the exit code is 1. Figures are written to .data/bench.json.',
    '',
    ...Object.entries(scenarios).flatMap(([name, { title, usual, whole }]) => [
      `  ${name.padEnd(width)}  ${title}`,
      `  ${''.padEnd(width)}  usually ${sizeText(usual)}; whole: ${sizeText(whole)}`,
    ]),
    '',
    '  --count N, --seconds N  what they mean is said above; for the scenarios that are named',
    '  --whole                 everything named in full: hours for all of them, so name one',
  ];
}

/** What a shortened run leaves out, and how to have it. */
export function formatAdvice({ whole }: Usage, skipped: readonly string[]): readonly string[] {
  const missing =
    skipped.length === 0
      ? []
      : [`no time was left for: ${skipped.join(', ')}; run them with: npm run bench -- ${skipped.join(' ')}`];
  if (whole) return missing;
  return [
    ...missing,
    'shortened; in full (recovery: 10 min dead and 100,000 parked; backlog, configurations, waiting: a million), one at a time:',
    '  npm run bench -- recovery --whole',
  ];
}
