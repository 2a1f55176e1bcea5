import type { Notes } from './notes.js';
import { MAX_MEMORY_MIB } from './run-fuzz.js';
import type { FuzzResult } from './run-fuzz.js';

const lineOf = ({ door, taken, answers }: Notes): string =>
  `${door}: ${taken} inputs (${answers.map(([answer, count]) => `${answer} × ${count}`).join(', ')})`;

/** What speaks against the services as a whole. */
function faultsOfServices({ restarts, memory }: FuzzResult): readonly string[] {
  const large = [...memory].filter(([, mib]) => mib > MAX_MEMORY_MIB);
  return [...restarts, ...large.map(([name, mib]) => `${name} took ${mib} MiB`)];
}

/** Whether nothing was found. */
export const isClean = (result: FuzzResult): boolean =>
  result.notes.every(({ findings }) => findings.length === 0) && faultsOfServices(result).length === 0;

/** The result as lines for people; each finding with what repeats it. */
export function formatFuzz(result: FuzzResult, seed: number): readonly string[] {
  const memory = [...result.memory].map(([name, mib]) => `${name} ${mib}`).join(', ');
  const findings = result.notes.flatMap((notes) => notes.findings);
  return [
    ...result.notes.map(lineOf),
    `most memory in MiB: ${memory}`,
    ...faultsOfServices(result).map((fault) => `FOUND ${fault}`),
    ...findings.flatMap(({ door, index, what, input }) => [
      `FOUND ${door} input ${index}: ${what}`,
      `  ${input}`,
      `  again: npm run chaos -- --fuzz --doors ${door} --seed ${seed} --from ${Math.max(0, index)}`,
    ]),
    isClean(result) ? 'nothing was found' : `${findings.length} findings`,
  ];
}
