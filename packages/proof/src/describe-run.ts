import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

const versionOf = (name: string): string =>
  (require(`${name}/package.json`) as { readonly version: string }).version;

/**
 * Returns when and where a run takes place, and the versions of what it uses. Kafka's version is the embedded broker's, from the jar lock
 * of `local`.
 */
export function describeRun() {
  const lock = join(dirname(require.resolve('@webhooks/local')), '..', '..', 'kafka-jars.lock.json');
  const kafka = /:kafka_[\d.]+:([\d.]+)/.exec(readFileSync(lock, 'utf8'))?.[1] ?? 'unknown';
  const { node, openssl } = process.versions;
  return {
    at: new Date().toISOString(),
    machine: {
      processor: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      platform: `${process.platform} ${process.arch}`,
    },
    versions: { node, openssl, kafkajs: versionOf('kafkajs'), kafka, undici: versionOf('undici') },
  };
}
