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
  const fingerprint = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { jars: parseJarLock(JSON.parse(text)), fingerprint };
}

function parseJarLock(value: unknown): LockedJar[] {
  if (typeof value !== 'object' || value === null || !('jars' in value) || !Array.isArray(value.jars)) {
    throw new Error('kafka-jars.lock.json: expected { "jars": [ … ] }');
  }
  return value.jars.map(parseLockedJar);
}

function parseLockedJar(value: unknown): LockedJar {
  if (typeof value === 'object' && value !== null && 'coordinates' in value && 'sha256' in value) {
    const { coordinates, sha256 } = value;
    if (typeof coordinates === 'string' && typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256)) {
      return { coordinates, sha256, fileName: fileNameOf(coordinates) };
    }
  }
  throw new Error(`kafka-jars.lock.json: expected coordinates and sha256, came ${JSON.stringify(value)}`);
}

function fileNameOf(coordinates: string): string {
  const [, artifact, version] = /^[^:]+:([^:]+):([^:]+)$/.exec(coordinates) ?? [];
  if (artifact === undefined || version === undefined) {
    throw new Error(`kafka-jars.lock.json: expected group:artifact:version, came ${coordinates}`);
  }
  return `${artifact}-${version}.jar`;
}
