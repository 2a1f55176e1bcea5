import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** The machine of a run. */
export const describeMachine = () => ({
  processor: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  platform: `${process.platform} ${process.arch}`,
});

/** Versions of what every run uses. Kafka's is that of the embedded broker, as the jar lock of `local` names it. */
export function describeVersions() {
  const { version } = require('kafkajs/package.json') as { readonly version: string };
  const lock = join(dirname(require.resolve('@webhooks/local')), '..', '..', 'kafka-jars.lock.json');
  const kafka = /:kafka_[\d.]+:([\d.]+)/.exec(readFileSync(lock, 'utf8'))?.[1] ?? 'unknown';
  return { node: process.versions.node, openssl: process.versions.openssl, kafkajs: version, kafka };
}
