import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import download from 'mvn-artifact-download';
import { cachedFolder } from '../cache/cached-folder.js';
import { lastLines, runCommand } from '../command.js';
import { beforeDeadline } from '../deadline.js';
import { errorText } from '../error-text.js';
import { withProgress, type Log } from '../log.js';
import { readJarLock, type LockedJar } from './jar-lock.js';

const PARALLEL_DOWNLOADS = 6;
const DOWNLOAD_TIMEOUT_MS = 120_000;
const MAVEN_TIMEOUT_MS = 600_000;

export interface KafkaJars {
  /** Value for `java -cp`; always in the order of the lock file, as a class-data archive demands. */
  readonly classPath: string;
  readonly fingerprint: string;
}

/** The broker's jars: from the cache, or fetched from Maven Central and checked against the lock file. */
export async function ensureKafkaJars(log: Log): Promise<KafkaJars> {
  const lock = readJarLock();
  const name = `kafka-jars-${lock.fingerprint}`;
  const title = `fetching ${lock.jars.length} jars of Apache Kafka from Maven Central`;
  const ensure = () =>
    cachedFolder(name, log, (target) => withProgress(log, title, () => fetchJars(lock.jars, target, log)));
  let folder = await ensure();
  if (!lock.jars.every((jar) => existsSync(join(folder, jar.fileName)))) {
    log(`${folder} lacks some of its files: fetching them again`);
    await rm(folder, { recursive: true, force: true });
    folder = await ensure();
  }
  const classPath = lock.jars.map((jar) => join(folder, jar.fileName)).join(delimiter);
  return { classPath, fingerprint: lock.fingerprint };
}

async function fetchJars(jars: readonly LockedJar[], folder: string, log: Log): Promise<void> {
  try {
    await fetchDirectly(jars, folder);
  } catch (error) {
    log(`fetching the jars directly failed (${errorText(error)}); trying Maven, with its own settings`);
    await fetchWithMaven(jars, folder, error);
  }
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

async function fetchWithMaven(jars: readonly LockedJar[], folder: string, cause: unknown): Promise<void> {
  const projectFile = join(folder, 'pom.xml');
  await writeFile(projectFile, mavenProject(jars));
  const goal = ['-B', '-q', '-f', projectFile, 'dependency:copy-dependencies'];
  const options = ['-DexcludeTransitive=true', `-DoutputDirectory=${folder}`];
  const { code, output } = await runCommand('mvn', [...goal, ...options], { timeoutMs: MAVEN_TIMEOUT_MS });
  await rm(projectFile, { force: true });
  if (code === 0) return;
  throw new Error(
    `The jars of Apache Kafka could not be fetched: directly: ${errorText(cause)}; with Maven: ${lastLines(output, 3)}. ` +
      'Check the connection to Maven Central, set a mirror in ~/.m2/settings.xml, ' +
      'or name a running cluster with KAFKA_BROKERS=host:port.',
    { cause },
  );
}

function mavenProject(jars: readonly LockedJar[]): string {
  const dependencies = jars.map(({ coordinates }) => {
    const [group, artifact, version] = coordinates.split(':');
    return `<dependency><groupId>${group ?? ''}</groupId><artifactId>${artifact ?? ''}</artifactId><version>${version ?? ''}</version></dependency>`;
  });
  return `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>kafka-jars</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>${dependencies.join('\n')}</dependencies></project>\n`;
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
