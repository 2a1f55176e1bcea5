import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import download from 'mvn-artifact-download';
import { cachedFolder } from '../engine/cached-folder.js';
import { beforeDeadline } from '../engine/deadline.js';
import { errorText } from '../engine/error-text.js';
import { withProgress, type Log } from '../engine/log.js';
import { readJarLock, type LockedJar } from './jar-lock.js';

const PARALLEL_DOWNLOADS = 6;
const DOWNLOAD_TIMEOUT_MS = 120_000;

/** The broker's jars as a class path: from the cache, or fetched from Maven Central and checked against the lock file. */
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
  const waiting = [...jars];
  async function fetchNext(): Promise<void> {
    for (let jar = waiting.shift(); jar !== undefined; jar = waiting.shift()) {
      // Twice: one lost connection in thirty downloads is common enough.
      const { coordinates } = jar;
      await fetchOne(coordinates, folder).catch(() => fetchOne(coordinates, folder));
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_DOWNLOADS }, fetchNext));
}

async function fetchOne(coordinates: string, folder: string): Promise<void> {
  const arrival = download.default(coordinates, folder, undefined, undefined, {
    timeout: DOWNLOAD_TIMEOUT_MS,
  });
  await beforeDeadline(arrival, DOWNLOAD_TIMEOUT_MS, `the download of ${coordinates}`);
}

/** Throws when the file is not the one of the lock file. */
export async function verifyJar(jar: LockedJar, path: string): Promise<void> {
  const actual = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  if (actual !== jar.sha256) {
    throw new Error(`${jar.coordinates}: expected SHA-256 ${jar.sha256}, came ${actual}; not used`);
  }
}
