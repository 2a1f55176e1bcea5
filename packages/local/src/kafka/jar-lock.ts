import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

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
  const folder = dirname(findPackageJSON(import.meta.url) ?? '');
  const text = readFileSync(join(folder, 'kafka-jars.lock.json'), 'utf8');
  const { jars } = JSON.parse(text) as { jars: Omit<LockedJar, 'fileName'>[] };
  return {
    jars: jars.map((jar) => ({ ...jar, fileName: `${jar.coordinates.split(':').slice(1).join('-')}.jar` })),
    fingerprint: createHash('sha256').update(text).digest('hex').slice(0, 16),
  };
}
