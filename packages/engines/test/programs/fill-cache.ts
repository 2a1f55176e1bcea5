// Asks for one cached folder; says on standard output whether this process filled it.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedFolder } from '../../src/cache/cached-folder.js';
import { untilClear } from '../../src/poll.js';

const [name = ''] = process.argv.slice(2);
const startedAt = Date.now();
let filled = false;
const folder = await cachedFolder(
  name,
  () => undefined,
  async (target) => {
    filled = true;
    const look = () => Promise.resolve(Date.now() - startedAt > 300 ? undefined : 'not yet');
    await untilClear(look, { deadlineMs: 1_000 });
    await writeFile(join(target, 'content'), 'whole');
  },
);
process.stdout.write(`${JSON.stringify({ folder, filled })}\n`);
