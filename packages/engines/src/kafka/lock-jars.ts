// Rewrites kafka-jars.lock.json for a new version of Kafka: edit the coordinates in the file, then run
//   node packages/engines/dist/src/kafka/lock-jars.js
// It fetches each jar from Maven Central and replaces its checksum.
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import download from 'mvn-artifact-download';
import { packageFolder } from '../package-folder.js';
import { readJarLock } from './jar-lock.js';

const folder = await mkdtemp(join(tmpdir(), 'kafka-jars-'));
try {
  const jars = [];
  for (const { coordinates } of readJarLock().jars) {
    const content = await readFile(await download.default(coordinates, folder));
    const sha256 = createHash('sha256').update(content).digest('hex');
    process.stdout.write(`${sha256} ${coordinates}\n`);
    jars.push({ coordinates, sha256 });
  }
  await writeFile(join(packageFolder(), 'kafka-jars.lock.json'), `${JSON.stringify({ jars }, null, 2)}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
