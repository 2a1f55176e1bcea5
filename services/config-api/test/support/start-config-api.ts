import { TOPIC_TABLE } from '@webhooks/contracts';
import { createKafka, ensureTopics, fetchEndOffsets } from '@webhooks/kafka';
import { testKafkaBrokers, testMongoUri } from '@webhooks/local';
import { LOCAL_API, TokenDesk, randomName, startInProcess } from '@webhooks/testkit';
import { composeConfigApi } from '../../src/compose.js';
import { readConfigApiConfig } from '../../src/config.js';
import { createCaller } from './caller.js';

export type RunningConfigApi = Awaited<ReturnType<typeof startConfigApi>>;

export const SECRETS_KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;

/** The topics as the services make them, so that no test waits for the creation in the background. */
export async function makeTopics(specs = TOPIC_TABLE): Promise<void> {
  const kafka = createKafka({ brokers: testKafkaBrokers(), clientId: 'config-api-test' });
  await ensureTopics(
    kafka,
    specs.map((spec) => ({ ...spec, replicationFactor: 1 })),
    { deadlineMs: 60_000 },
  );
  // A broker names the leader of a new partition a moment before that one serves it; a change made then is told as unpublished.
  await Promise.all(specs.map(({ name }) => fetchEndOffsets(kafka, name, { deadlineMs: 60_000 })));
  await kafka.close();
}

export const environment = (desk: TokenDesk): Record<string, string> => ({
  KAFKA_BROKERS: testKafkaBrokers().join(','),
  MONGODB_URI: testMongoUri(randomName('config_api')),
  ...desk.settings,
  SECRETS_KEYS,
  ...LOCAL_API,
});

/** The real service in this process, against a real broker and a real database of its own. */
export async function startConfigApi(env: Readonly<Record<string, string>> = {}) {
  const desk = await TokenDesk.open();
  const all: Readonly<Record<string, string>> = { ...environment(desk), ...env };
  const service = await startInProcess({ readConfig: readConfigApiConfig, compose: composeConfigApi }, all);
  return {
    ...service,
    /** Settings with which another instance shares the database and the issuer. */
    env: all,
    desk,
    /** A caller with read and write rights, of a tenant that nobody else uses unless one is named. */
    tenant: async (tenantId = randomName('tenant')) =>
      createCaller(service.url, tenantId, `Bearer ${await desk.tokenOf(tenantId)}`),
    stop: async () => {
      await service.stop();
      await desk.close();
    },
  };
}
