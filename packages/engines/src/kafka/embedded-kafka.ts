import { mkdir } from 'node:fs/promises';
import { awaitFreeDataFolder } from '../data-folder.js';
import { superviseEngine } from '../engine-lifecycle.js';
import { onFreePorts } from '../free-port.js';
import { ALL_COMPILERS, launchBroker } from './broker-process.js';
import { copyTemplate, ensureBrokerTemplate } from './broker-template.js';
import { ensureKafkaJars } from './jars.js';
import { findJava } from './java.js';
import type { KafkaEngine, KafkaSettings } from './kafka-engine.js';

/** A real Apache Kafka as a child process: one broker that is its own controller, reachable at 127.0.0.1 only. */
export async function startEmbeddedKafka(settings: KafkaSettings): Promise<KafkaEngine> {
  const { dataDir, log, detours = [] } = settings;
  const [java, jars] = await Promise.all([findJava(log), ensureKafkaJars(log)]);
  const runtime = { java, classPath: jars.classPath };
  const template = await ensureBrokerTemplate(runtime, jars.fingerprint, log);
  await mkdir(dataDir, { recursive: true });
  const jvmOptions = [...template.jvmOptions, ...(settings.forLoad === true ? [ALL_COMPILERS] : [])];
  return onFreePorts(settings.port, async (port, controllerPort) => {
    const lifecycle = await superviseEngine(async () => {
      await awaitFreeDataFolder(dataDir, log);
      await copyTemplate(template, dataDir, log);
      return launchBroker(runtime, { folder: dataDir, port, controllerPort, detours, jvmOptions });
    });
    return Object.assign(lifecycle, { kind: 'embedded' as const, brokers: [`127.0.0.1:${port}`] });
  });
}
