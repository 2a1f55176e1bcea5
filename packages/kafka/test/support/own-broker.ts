import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKafka } from '@webhooks/local';
import type { KafkaEngine } from '@webhooks/local';

/** A broker of one's own, to be killed; `discard` ends it and removes its data. */
export async function ownBroker(): Promise<{ engine: KafkaEngine; discard: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'kafka-test-'));
  const engine = await startKafka({ dataDir });
  const discard = async () => {
    await engine.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { engine, discard };
}
