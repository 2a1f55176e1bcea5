import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function ownerOf(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

/** Claims a data folder for this process; throws when another living process holds it. Returns how to give it back. */
export function claimDataDir(dataDir: string): () => void {
  const file = join(dataDir, 'pid');
  const owner = ownerOf(file);
  if (owner !== undefined && owner !== process.pid) {
    throw new Error(`another stack is running on ${dataDir} (process ${owner}); stop it with: kill ${owner}`);
  }
  writeFileSync(file, String(process.pid));
  return () => rmSync(file, { force: true });
}
