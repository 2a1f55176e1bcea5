import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** The embedded broker's version, as the jar lock of `engines` names it. */
function kafkaVersion(): string {
  const engines = dirname(require.resolve('@webhooks/engines'));
  const lock = readFileSync(join(engines, '..', '..', 'kafka-jars.lock.json'), 'utf8');
  return /:kafka_[\d.]+:([\d.]+)/.exec(lock)?.[1] ?? 'unknown';
}

/** The machine of a run. */
export const describeMachine = () => ({
  processor: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  platform: `${process.platform} ${process.arch}`,
});

/** Versions of what every run uses. */
export function describeVersions() {
  const { version } = require('kafkajs/package.json') as { readonly version: string };
  return {
    node: process.versions.node,
    openssl: process.versions.openssl,
    kafkajs: version,
    kafka: kafkaVersion(),
  };
}
