import { hash } from 'node:crypto';
import { readFileSync, existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { join, dirname, delimiter } from 'node:path';
import download from 'mvn-artifact-download';
import { runCommand, errorText } from '../engine/command.js';
import { cachedFolder } from '../engine/folders.js';
import { beforeDeadline, withProgress, type Log } from '../engine/wait.js';

const LOWEST_MAJOR = 17;
const HOW_TO_INSTALL =
  'Debian and Ubuntu: sudo apt-get install openjdk-17-jre-headless · Fedora: sudo dnf install java-21-openjdk-headless · macOS: brew install openjdk';

/** Returns the command of Java 17 or newer: from JAVA_HOME, else from the PATH. Throws with the command that installs Java. */
export async function findJava(): Promise<string> {
  const home = process.env['JAVA_HOME'];
  const candidates = [...(home === undefined || home === '' ? [] : [join(home, 'bin', 'java')]), 'java'];
  for (const command of candidates) {
    const { code, output } = await runCommand(command, ['-version'], { timeoutMs: 20_000 });
    if (code === 0 && Number(/version "(\d+)/.exec(output)?.[1]) >= LOWEST_MAJOR) return command;
  }
  throw new Error(
    `Apache Kafka needs Java ${LOWEST_MAJOR} or newer. ${HOW_TO_INSTALL}. Or name a running cluster with KAFKA_BROKERS=host:port.`,
  );
}

interface LockedJar {
  /** `group:artifact:version`. */
  readonly coordinates: string;
  readonly fileName: string;
  /** SHA-256 of the file, hexadecimal. */
  readonly sha256: string;
}

/**
 * Reads `kafka-jars.lock.json`: the jars of the broker, with coordinates and checksums. `fingerprint` changes with any change of the file,
 * and names the folder of the cache.
 */
export function readJarLock() {
  const folder = dirname(findPackageJSON(import.meta.url) ?? '');
  const text = readFileSync(join(folder, 'kafka-jars.lock.json'), 'utf8');
  const { jars } = JSON.parse(text) as { readonly jars: readonly Omit<LockedJar, 'fileName'>[] };
  return {
    jars: jars.map((jar) => ({ ...jar, fileName: `${jar.coordinates.split(':').slice(1).join('-')}.jar` })),
    fingerprint: hash('sha256', text).slice(0, 16),
  };
}

const PARALLEL_DOWNLOADS = 6;
const DOWNLOAD_TIMEOUT_MS = 120_000;

/** Returns the class path of the broker's jars. Missing jars are fetched from Maven Central and checked against the lock file. */
export async function ensureKafkaJars(log: Log): Promise<string> {
  const lock = readJarLock();
  const name = `kafka-jars-${lock.fingerprint}`;
  const title = `fetching ${lock.jars.length} jars of Apache Kafka from Maven Central`;
  const ensure = () =>
    cachedFolder(name, (target) => withProgress(log, title, () => fetchJars(lock.jars, target)));
  let folder = await ensure();
  if (!lock.jars.every((jar) => existsSync(join(folder, jar.fileName)))) {
    log(`${folder} lacks some of its files: fetching them again`);
    await rm(folder, { recursive: true, force: true });
    folder = await ensure();
  }
  return lock.jars.map((jar) => join(folder, jar.fileName)).join(delimiter);
}

async function fetchJars(jars: readonly LockedJar[], folder: string): Promise<void> {
  await fetchDirectly(jars, folder).catch((cause: unknown) => {
    throw new Error(
      `The jars of Apache Kafka could not be fetched: ${errorText(cause)}. ` +
        'Check the connection to Maven Central, or name a running cluster with KAFKA_BROKERS=host:port.',
      { cause },
    );
  });
  for (const jar of jars) await verifyJar(jar, join(folder, jar.fileName));
}

async function fetchDirectly(jars: readonly LockedJar[], folder: string): Promise<void> {
  // All take from one iterator.
  const waiting = jars.values();
  async function fetchNext(): Promise<void> {
    for (const { coordinates } of waiting)
      // Retried once, because one lost connection in thirty downloads is common.
      await fetchOne(coordinates, folder).catch(() => fetchOne(coordinates, folder));
  }
  await Promise.all(Array.from({ length: PARALLEL_DOWNLOADS }, fetchNext));
}

async function fetchOne(coordinates: string, folder: string): Promise<void> {
  const arrival = download.default(coordinates, folder);
  await beforeDeadline(arrival, DOWNLOAD_TIMEOUT_MS, `the download of ${coordinates}`);
}

/** Throws when the file's checksum differs from the one in the lock file. */
export async function verifyJar(jar: LockedJar, path: string): Promise<void> {
  const actual = hash('sha256', await readFile(path));
  if (actual !== jar.sha256) {
    throw new Error(`${jar.coordinates}: expected SHA-256 ${jar.sha256}, came ${actual}; not used`);
  }
}
