import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDoors } from '../../src/fuzz/doors.js';
import { formatFuzz, isClean } from '../../src/fuzz/format-fuzz.js';
import { runFuzz } from '../../src/fuzz/run-fuzz.js';

const dataDir = mkdtempSync(join(tmpdir(), 'fuzz-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const SEED = 1;
/** One batch of each door; with `npm run chaos -- --fuzz` it may be as many as one likes. */
const BATCH = 120;

it('nothing that comes in through a door breaks a service, and each input has the end that is documented', async () => {
  const result = await runFuzz({
    seed: SEED,
    doors: readDoors(''),
    from: 0,
    durationMs: 0,
    batchSize: BATCH,
    dataDir,
    stopping: new AbortController().signal,
    print: () => undefined,
  });
  const lines = formatFuzz(result, SEED);
  process.stdout.write(`${lines.join('\n')}\n`);
  expect(isClean(result) ? [] : lines).toEqual([]);
  expect(result.notes.map(({ taken }) => taken)).toEqual(readDoors('').map(() => BATCH));
}, 180_000);
