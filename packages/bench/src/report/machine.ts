import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { RETRY_TIERS, TOPICS, TOPIC_TABLE } from '@webhooks/contracts';

const require = createRequire(import.meta.url);

function versionOf(name: string): string {
  const { version } = require(`${name}/package.json`) as { readonly version: string };
  return version;
}

/** The embedded broker's version, as the jar lock of `engines` names it. */
function kafkaVersion(): string {
  const engines = dirname(require.resolve('@webhooks/engines'));
  const lock = readFileSync(join(engines, '..', '..', 'kafka-jars.lock.json'), 'utf8');
  return /:kafka_[\d.]+:([\d.]+)/.exec(lock)?.[1] ?? 'unknown';
}

/** What a figure was measured on. */
export const describeMachine = () => ({
  processor: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  platform: `${process.platform} ${process.arch}`,
});

export const describeVersions = () => ({
  node: process.versions.node,
  openssl: process.versions.openssl,
  undici: versionOf('undici'),
  kafkajs: versionOf('kafkajs'),
  kafka: kafkaVersion(),
});

/** Settings that a figure depends on and that no option of the bench changes. */
export const describeSettings = () => ({
  partitions: TOPIC_TABLE.find(({ name }) => name === TOPICS.events)?.partitions,
  retryTiers: RETRY_TIERS.length,
  tls: 'TLS 1.3 with a certificate that is checked, keep-alive, a port for each endpoint',
  acks: 'all (one broker, single copies)',
});
