import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../package-folder.js';

export interface LockedJar {
  /** `group:artifact:version`. */
  readonly coordinates: string;
  readonly fileName: string;
  /** SHA-256 of the file, hexadecimal. */
  readonly sha256: string;
}

export interface JarLock {
  readonly jars: readonly LockedJar[];
  /** Changes with any change of the lock file; names the folder of the cache. */
  readonly fingerprint: string;
}

/** Reads `kafka-jars.lock.json`: what the broker consists of, by coordinates and checksum. */
export function readJarLock(): JarLock {
  const text = readFileSync(join(packageFolder(), 'kafka-jars.lock.json'), 'utf8');
  const { jars } = JSON.parse(text) as { jars: Omit<LockedJar, 'fileName'>[] };
  return {
    jars: jars.map((jar) => ({ ...jar, fileName: `${jar.coordinates.split(':').slice(1).join('-')}.jar` })),
    fingerprint: createHash('sha256').update(text).digest('hex').slice(0, 16),
  };
}
