import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSuite } from '../../src/planted/run-suite.js';

const root = mkdtempSync(join(tmpdir(), 'suite-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const FOLDER = join(root, 'packages', 'chaos', 'dist', 'src');
mkdirSync(FOLDER, { recursive: true });
mkdirSync(join(root, '.data'));
writeFileSync(join(root, 'package.json'), '{"type":"module"}');

/** Ends, as the suite does, at SIGINT and with its verdict written. */
const UNTIL_ENDED = `
import { writeFileSync } from 'node:fs';
const keep = setInterval(() => undefined, 1_000);
process.on('SIGINT', () => {
  writeFileSync(${JSON.stringify(join(root, '.data', 'chaos.json'))}, '{"findings":[{"kind":"lost"}]}');
  process.exitCode = 1;
  clearInterval(keep);
});
`;
const writeProgram = (text: string): void => writeFileSync(join(FOLDER, 'main.js'), text);
const run = (deadlineMs: number, stopping = new AbortController().signal) =>
  runSuite({ root, options: [], deadlineMs, stopping });

it('what a run has found counts, also when it had to be ended', async () => {
  writeProgram(UNTIL_ENDED);
  expect(await run(2_000)).toEqual({ status: 1, findings: [{ kind: 'lost' }] });
});

it('a run is ended in order when the one that runs it is stopped', async () => {
  writeProgram(UNTIL_ENDED);
  expect(await run(60_000, AbortSignal.timeout(2_000))).toEqual({ status: 1, findings: [{ kind: 'lost' }] });
});

it('a run that broke before its verdict has found nothing, whatever it ended with', async () => {
  writeProgram("throw new Error('no broker');");
  expect(await run(60_000)).toEqual({ status: undefined, findings: [] });
});

it('a run that broke has found nothing', async () => {
  writeProgram('process.exitCode = 3;');
  expect(await run(60_000)).toEqual({ status: 3, findings: [] });
});
