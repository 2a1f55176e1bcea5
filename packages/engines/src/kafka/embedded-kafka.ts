import { awaitFreeDataFolder } from '../data-folder.js';
import { superviseEngine } from '../engine-lifecycle.js';
import { onFreePorts } from '../free-port.js';
import { ensureFormatted, makeInternalTopics } from './broker-data.js';
import { ALL_COMPILERS, launchBroker } from './broker-process.js';
import { ensureKafkaJars } from './jars.js';
import { findJava } from './java.js';
import type { KafkaEngine, KafkaSettings } from './kafka-engine.js';

/** A real Apache Kafka as a child process: one broker that is its own controller, reachable at 127.0.0.1 only. */
export async function startEmbeddedKafka(settings: KafkaSettings): Promise<KafkaEngine> {
  const { dataDir, log, detours = [] } = settings;
  const [java, classPath] = await Promise.all([findJava(), ensureKafkaJars(log)]);
  const runtime = { java, classPath };
  const jvmOptions = settings.forLoad === true ? [ALL_COMPILERS] : [];
  return onFreePorts(settings.port, async (port, controllerPort) => {
    const brokers = [`127.0.0.1:${port}`];
    const launch = { folder: dataDir, port, controllerPort, detours, jvmOptions };
    let isNew = false as boolean;
    const lifecycle = await superviseEngine(async () => {
      await awaitFreeDataFolder(dataDir, log);
      isNew = await ensureFormatted(runtime, launch, log);
      return launchBroker(runtime, launch);
    });
    if (isNew) await makeInternalTopics(brokers);
    return Object.assign(lifecycle, { kind: 'embedded' as const, brokers });
  });
}
