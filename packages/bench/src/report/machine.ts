import { createRequire } from 'node:module';
import { RETRY_TIERS, TOPICS, TOPIC_TABLE } from '@webhooks/contracts';
import { describeVersions as describeSharedVersions } from '@webhooks/ledger';

const require = createRequire(import.meta.url);

export function describeVersions() {
  const { version } = require('undici/package.json') as { readonly version: string };
  return { ...describeSharedVersions(), undici: version };
}

/** Settings that a figure depends on and that no option of the bench changes. */
export const describeSettings = () => ({
  partitions: TOPIC_TABLE.find(({ name }) => name === TOPICS.events)?.partitions,
  retryTiers: RETRY_TIERS.length,
  tls: 'TLS 1.3 with a certificate that is checked, keep-alive, a port for each endpoint',
  acks: 'all (one broker, single copies)',
});
