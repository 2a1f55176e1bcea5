import { TOPICS, TOPIC_TABLE } from '@webhooks/contracts';
import { testKafkaBrokers, testMongoUri } from '@webhooks/local';
import { createKafka, ensureTopics, fetchEndOffsets } from '@webhooks/kafka';
import { Closers, HealthBoard, Registry, SettingsReader } from '@webhooks/runtime';
import type { HealthReport, LogFields } from '@webhooks/runtime';
import { composeConfigApi } from '../../src/compose.js';
import { readConfigApiConfig } from '../../src/config.js';
import { createCaller } from './caller.js';
import type { Caller } from './caller.js';
import { AUDIENCE, openTokenDesk, randomName } from '@webhooks/testkit';
import type { TokenDesk } from '@webhooks/testkit';

interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

export interface RunningConfigApi {
  readonly url: string;
  /** Settings with which another instance shares the database and the issuer. */
  readonly env: Readonly<Record<string, string>>;
  readonly desk: TokenDesk;
  readonly lines: readonly LogLine[];
  /** A caller with read and write rights, of a tenant that nobody else uses unless one is named. */
  tenant(tenantId?: string): Promise<Caller>;
  ready(): HealthReport;
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

export const SECRETS_KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;

/** The topics as the services make them, so that no test waits for the creation in the background. */
export async function makeTopics(): Promise<void> {
  const kafka = createKafka({ brokers: testKafkaBrokers(), clientId: 'config-api-test' });
  await ensureTopics(
    kafka,
    TOPIC_TABLE.map((spec) => ({ ...spec, replicationFactor: 1 })),
    { deadlineMs: 60_000 },
  );
  // A broker names the leader of a new partition a moment before that one serves it; a change made then is told as unpublished.
  await fetchEndOffsets(kafka, TOPICS.configurations, { deadlineMs: 60_000 });
  await kafka.close();
}

export const environment = (desk: TokenDesk): Record<string, string> => ({
  KAFKA_BROKERS: testKafkaBrokers().join(','),
  MONGODB_URI: testMongoUri(randomName('config_api')),
  TOKEN_ISSUER: desk.issuer,
  TOKEN_JWKS_URI: desk.jwksUri,
  TOKEN_AUDIENCE: AUDIENCE,
  SECRETS_KEYS,
  HOST: '127.0.0.1',
  PORT: '0',
  SHUTDOWN_DELAY_MS: '0',
});

/** The real service in this process, against a real broker and a real database of its own. */
export async function startConfigApi(env: Readonly<Record<string, string>> = {}): Promise<RunningConfigApi> {
  const desk = await openTokenDesk();
  const closers = new Closers();
  closers.add('token desk', () => desk.stop());
  const lines: LogLine[] = [];
  const line =
    (level: string) =>
    (message: string, fields: LogFields = {}) =>
      void lines.push({ level, message, fields });
  const log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  const registry = new Registry();
  const health = new HealthBoard();
  const all = { ...environment(desk), ...env };
  const settings = new SettingsReader(all);
  const config = readConfigApiConfig(settings);
  if (settings.faults.length > 0) throw new Error(settings.faults.join('; '));
  await composeConfigApi(config, {
    log,
    registry,
    health,
    onClose: (name, close) => closers.add(name, close),
    addPage: () => undefined,
    fail: (error) => line('fail')(String(error)),
  });
  const port = lines.find(({ message }) => message === 'listening')?.fields['port'];
  const url = `http://127.0.0.1:${String(port)}`;
  return {
    url,
    env: all,
    desk,
    lines,
    tenant: async (tenantId = randomName('tenant')) =>
      createCaller(url, tenantId, `Bearer ${await desk.token(tenantId)}`),
    ready: () => health.isReady(),
    metrics: () => registry.metrics(),
    stop: async () => {
      await closers.closeAll(log, 20_000);
    },
  };
}
