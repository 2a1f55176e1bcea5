import { runContainer } from '../engine/container.js';
import type { RunningContainer } from '../engine/container.js';
import { READY_DEADLINE_MS } from '../engine/wait.js';
import type { Log } from '../engine/wait.js';
import { freePort } from '../engine/free-port.js';
import { brokerSettings } from './broker-properties.js';
import type { BrokerSettings } from './broker-properties.js';
import { awaitBroker } from './broker-process.js';

const IMAGE = 'apache/kafka:4.3.1';

/**
 * Starts Apache Kafka from the image `apache/kafka`; undefined when no container can run (see `runContainer`). The Kafka module of
 * testcontainers is not used, because it supports another vendor's image only.
 */
export async function startKafkaContainer(
  log: Log,
): Promise<(RunningContainer & { readonly brokers: readonly string[] }) | undefined> {
  const port = await freePort();
  const container = await runContainer(
    {
      image: IMAGE,
      hostPort: port,
      containerPort: port,
      environment: (host) => containerEnvironment(host, port),
      awaitReady: (host) => awaitBroker(`${host}:${port}`, { deadlineMs: READY_DEADLINE_MS }),
    },
    log,
  );
  if (!container) return undefined;
  log(`Kafka: a container of ${IMAGE}`);
  return { ...container, brokers: [`${container.host}:${port}`] };
}

/** Returns the settings of the embedded broker as variables of the image: `log.dirs` is KAFKA_LOG_DIRS. */
export function containerEnvironment(host: string, port: number): Record<string, string> {
  const controllerPort = port === 9093 ? 9094 : 9093;
  const settings: BrokerSettings = {
    ...brokerSettings({ port, controllerPort, logDir: '/var/lib/kafka/data' }),
    listeners: `PLAINTEXT://0.0.0.0:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://${host}:${port}`,
  };
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      `KAFKA_${name.toUpperCase().replaceAll('.', '_')}`,
      String(value),
    ]),
  );
}
