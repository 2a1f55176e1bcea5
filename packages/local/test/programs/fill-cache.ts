// Asks for one cached folder, fills it for 300 ms if it has to, and says on standard output where it is.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedFolder } from '../../src/engine/folders.js';
import { untilClear } from '../../src/engine/wait.js';

const [name = ''] = process.argv.slice(2);
const startedAt = Date.now();
const folder = await cachedFolder(name, async (target) => {
  const look = () => Promise.resolve(Date.now() - startedAt > 300 ? undefined : 'not yet');
  await untilClear(look, { deadlineMs: 1_000 });
  await writeFile(join(target, 'content'), 'whole');
});
process.stdout.write(`${folder}\n`);
