import { createHash } from 'node:crypto';
import { cachedFolder } from '../engine/cached-folder.js';
import { awaitFreeDataFolder } from '../engine/data-folder.js';
import { READY_DEADLINE_MS } from '../engine/deadline.js';
import { superviseEngine } from '../engine/engine-lifecycle.js';
import { onFreePorts } from '../engine/free-port.js';
import { withProgress, type Log } from '../engine/log.js';
import { ensureData, makeInternalTopics } from './broker-data.js';
import { ALL_COMPILERS, classArchive, launchBroker, type BrokerRuntime } from './broker-process.js';
import { brokerProperties } from './broker-properties.js';
import { ensureKafkaJars } from './jars.js';
import { findJava } from './java.js';
import type { KafkaEngine, KafkaSettings } from './kafka-engine.js';

/** A real Apache Kafka as a child process: one broker that is its own controller, reachable at 127.0.0.1 only. */
export async function startEmbeddedKafka(settings: KafkaSettings): Promise<KafkaEngine> {
  const runtime = await prepareRuntime(settings.log);
  return startBroker(runtime, settings, settings.forLoad === true ? [ALL_COMPILERS] : []);
}

/** Java, the jars, and the template of this machine, which is made when there is none. */
export async function prepareRuntime(log: Log): Promise<BrokerRuntime> {
  const [java, classPath] = await Promise.all([findJava(), ensureKafkaJars(log)]);
  const runtime = { java, classPath };
  // A template is as good as what is in its name: Java, the jars, and the broker's settings.
  const settings = brokerProperties({ port: 0, controllerPort: 0, logDir: '' });
  const name = createHash('sha256').update([java, classPath, settings].join('\n')).digest('hex');
  const make = (folder: string) =>
    withProgress(log, 'preparing quick starts of Apache Kafka', () => makeTemplate(runtime, folder, log));
  return { ...runtime, template: await cachedFolder(`kafka-template-${name}`, make) };
}

/** A broker that ends in order leaves its data, with the internal topics, and an archive of the classes it has loaded. */
async function makeTemplate(runtime: BrokerRuntime, dataDir: string, log: Log): Promise<void> {
  const archiving = [`-XX:ArchiveClassesAtExit=${classArchive(dataDir)}`];
  const kafka = await startBroker(runtime, { dataDir, log }, archiving);
  // On full cores the archive alone takes longer than a broker otherwise has for its end.
  await makeInternalTopics(kafka.brokers).finally(() => kafka.stop(READY_DEADLINE_MS));
}

async function startBroker(
  runtime: BrokerRuntime,
  { dataDir, log, port: preferredPort, detours = [] }: KafkaSettings,
  jvmOptions: readonly string[],
): Promise<KafkaEngine> {
  return onFreePorts(preferredPort, async (port, controllerPort) => {
    const launch = { folder: dataDir, port, controllerPort, detours, jvmOptions };
    const lifecycle = await superviseEngine(async () => {
      await awaitFreeDataFolder(dataDir, log);
      await ensureData(runtime, launch, log);
      return launchBroker(runtime, launch);
    });
    return Object.assign(lifecycle, { kind: 'embedded' as const, brokers: [`127.0.0.1:${port}`] });
  });
}
