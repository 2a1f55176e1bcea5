import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { align, print } from '@webhooks/testkit/account';
import { percentilesOf } from '../bench/measure.js';
import { figure, formatNumber } from '../bench/report.js';
import type { Figure, RunReport } from '../bench/report.js';

/** With an odd number the median is a measured figure. */
const TURNS = 3;

/** Builds a checkout and runs its `npm run bench`. Returns its figures, and the CPU time of each process, by their names. Throws without figures. */
function measure(checkout: string, args: readonly string[]): ReadonlyMap<string, Figure> {
  const command = ['packages/tooling/bootstrap.mjs', 'bench', ...args];
  const file = join(checkout, '.data', 'bench.json');
  rmSync(file, { force: true });
  // A void run ends it with 1, and the other runs have figures.
  spawnSync(process.execPath, command, { cwd: checkout, stdio: 'inherit' });
  if (!existsSync(file)) throw new Error(`bench of ${checkout} left no figures; its output says why`);
  const text = readFileSync(file, 'utf8');
  const { reports } = JSON.parse(text) as { readonly reports: readonly RunReport[] };
  const named = reports.flatMap(({ scenario, run, figures, usage }) => {
    const ofProcesses = usage?.processes.map(({ name, cpuMicros }) =>
      figure(`CPU of ${name} for each ${usage.each}`, cpuMicros / usage.count, 'µs'),
    );
    return [...figures, ...(ofProcesses ?? [])].map(
      (one) => [`${scenario}: ${run}: ${one.name}`, one] as const,
    );
  });
  return new Map(named);
}

/** The median of the figures that were measured; void runs have none. */
const medianOf = (values: readonly number[]): string =>
  formatNumber(percentilesOf(values.filter(Number.isFinite)).p50);

/**
 * `npm run compare -- OTHER [what bench takes]`: runs bench of the checkout OTHER and of this one in turns. Prints the
 * median of each figure in both, and median, least and greatest of the ratios of each turn: a machine that changes its speed changes both.
 */
function main([other, ...args]: readonly string[]): void {
  if (other === undefined) throw new Error('expected the folder of another checkout, then what bench takes');
  const turns = Array.from({ length: TURNS }, (_, turn) => {
    print(`turn ${turn + 1} of ${TURNS}`);
    return { there: measure(other, args), here: measure('.', args) };
  });
  // What is void in one turn, or in all of one checkout, has figures of the others.
  const measured = new Map(turns.flatMap(({ there, here }) => [...there, ...here]));
  const rows = [...measured].map(([name, { unit }]) => {
    const valueOf = (figures: ReadonlyMap<string, Figure>): number => figures.get(name)?.value ?? NaN;
    const was = turns.map(({ there }) => valueOf(there));
    const is = turns.map(({ here }) => valueOf(here));
    const ratios = turns.map(({ there, here }) => valueOf(here) / valueOf(there)).filter(Number.isFinite);
    const [least, greatest] = [Math.min, Math.max].map((end) => formatNumber(end(...ratios)));
    return [name, medianOf(was), medianOf(is), unit, medianOf(ratios), `${least} to ${greatest}`];
  });
  align([['', 'there', 'here', '', 'ratio', 'least to greatest'], ...rows], [1, 2, 4, 5]).forEach(print);
}

main(process.argv.slice(2));
