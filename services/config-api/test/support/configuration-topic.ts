import { TOPICS, configurationKey } from '@webhooks/contracts';
import { createKafka, openSink, openTableReader } from '@webhooks/kafka';
import { testKafkaBrokers } from '@webhooks/local';
import { eventually, isObject } from '@webhooks/testkit';

export type SeenConfiguration = Readonly<Record<string, unknown>>;

/** The topic `webhooks.configurations` as a worker reads it, and a way to write to it behind the service's back. */
export interface ConfigurationTopic {
  /** Every record of one configuration so far, in the order of the topic. */
  recordsOf(tenantId: string, ref: string): readonly SeenConfiguration[];
  /** Its first record of this revision, as soon as it is there. */
  recordOf(tenantId: string, ref: string, revision: number): Promise<SeenConfiguration>;
  write(tenantId: string, ref: string, value: string | null): Promise<void>;
  close(): Promise<void>;
}

function parseRecord(value: Buffer | null): SeenConfiguration {
  try {
    const parsed: unknown = JSON.parse(String(value));
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

export function openConfigurationTopic(): ConfigurationTopic {
  const kafka = createKafka({ brokers: testKafkaBrokers(), clientId: 'config-api-test' });
  const seen = new Map<string, SeenConfiguration[]>();
  const reader = openTableReader({
    kafka,
    topic: TOPICS.configurations,
    onRecord: ({ key, value }) => {
      const name = String(key);
      seen.set(name, [...(seen.get(name) ?? []), parseRecord(value)]);
    },
  });
  const sink = openSink({ kafka });
  const recordsOf = (tenantId: string, ref: string) => seen.get(configurationKey(tenantId, ref)) ?? [];
  return {
    recordsOf,
    recordOf: (tenantId, ref, revision) =>
      eventually(() => recordsOf(tenantId, ref).find((record) => record['revision'] === revision) ?? false, {
        timeoutMs: 15_000,
        message: `revision ${revision} of ${ref} is on the topic`,
      }),
    write: async (tenantId, ref, value) =>
      (await sink).send({ topic: TOPICS.configurations, key: configurationKey(tenantId, ref), value }),
    close: async () => {
      await reader.close();
      await (await sink).close();
      await kafka.close();
    },
  };
}
