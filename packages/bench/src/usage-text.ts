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
    'Without a name all scenarios run, shortened, in about ten minutes. A run whose ledger does not balance shows no figure,',
    'and the exit code is 1. Figures are written to .data/bench.json.',
    '',
    ...Object.entries(scenarios).flatMap(([name, { title, usual, whole }]) => [
      `  ${name.padEnd(width)}  ${title}`,
      `  ${''.padEnd(width)}  default ${sizeText(usual)}; with --whole ${sizeText(whole)}`,
    ]),
    '',
    '  --count N, --seconds N  size of the named scenarios; each scenario above says what it counts',
    '  --whole                 full length of the named scenarios; all of them take hours',
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
