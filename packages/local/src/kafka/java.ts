import { join } from 'node:path';
import { runCommand } from '../engine/command.js';

const LOWEST_MAJOR = 17;
const HOW_TO_INSTALL =
  'Debian and Ubuntu: sudo apt-get install openjdk-17-jre-headless · Fedora: sudo dnf install java-21-openjdk-headless · macOS: brew install openjdk';

/** The command of Java 17 or newer: of JAVA_HOME, then of the PATH. Throws with the command that installs it. */
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
