import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKafka } from '@webhooks/local';
import type { KafkaEngine } from '@webhooks/local';
import { eventually, TokenDesk } from '@webhooks/testkit';
import { startFlood } from './flood.js';
import { startIngestProcess } from './ingest-process.js';
import type { IngestProcess } from './ingest-process.js';
import { readEvents } from './read-topic.js';

const MIB = 1_048_576;
/** More than its bounds of 24 MiB take with their parsed events and V8's slack, and far less than what is sent to it. */
const GROWTH_BYTES = 150 * MIB;

const dataDir = mkdtempSync(join(tmpdir(), 'ingest-overload-'));
let kafka: KafkaEngine;
let desk: TokenDesk;
let ingest: IngestProcess;

// A broker of its own: it stands still here.
beforeAll(async () => {
  kafka = await startKafka({ dataDir });
  desk = await TokenDesk.open();
  ingest = await startIngestProcess({
    ...{ KAFKA_BROKERS: kafka.brokers.join(','), TOPICS_REPLICATION_FACTOR: '1' },
    ...desk.settings,
    ...{ PUBLISH_TIMEOUT_MS: '1000', MAX_PENDING_BYTES: String(16 * MIB) },
    MAX_OPEN_BODY_BYTES: String(8 * MIB),
  });
});
afterAll(async () => {
  signalKafka('SIGCONT');
  await ingest.stop();
  await desk.close();
  await kafka.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

function signalKafka(signal: 'SIGSTOP' | 'SIGCONT'): void {
  if (kafka.pid !== undefined) process.kill(kafka.pid, signal);
}

const memory = (): Promise<number> => ingest.metric('process_resident_memory_bytes');

it('ingest sheds load while Kafka stands still, keeps its memory small, and has promised only what is on the topic', async () => {
  const token = await desk.tokenOf('acme', 'event.write.any');
  const flood = startFlood({ url: ingest.url, token, connections: 300, batch: 1_000 });
  const count = (status: string): number => flood.answers[status] ?? 0;
  await eventually(() => count('202') >= 10, { timeoutMs: 30_000, message: 'the first batches are taken' });

  signalKafka('SIGSTOP');
  const [before, sentBefore] = [await memory(), flood.bytesSent()];
  let most = 0;
  await eventually(
    async () => {
      most = Math.max(most, await memory());
      return flood.bytesSent() - sentBefore > 2 * GROWTH_BYTES && count('503') >= 300;
    },
    { timeoutMs: 60_000, message: 'twice the bound was sent, and shed' },
  );
  signalKafka('SIGCONT');
  const taken = count('202');
  await eventually(() => count('202') >= taken + 10, {
    timeoutMs: 30_000,
    message: 'batches are taken again',
  });
  await flood.end();

  expect(most - before).toBeLessThan(GROWTH_BYTES);
  expect(Object.keys(flood.answers).filter((kind) => !['202', '503', 'cut'].includes(kind))).toEqual([]);
  expect(flood.faults).toEqual([]);
  // Of those batches some events may have found too much waiting, but never all.
  expect(flood.accepted.size).toBeGreaterThan(count('202'));
  const { seen, close } = await readEvents(kafka.brokers);
  const missing = new Set(flood.accepted);
  const strange: string[] = [];
  const looking = eventually(
    () => {
      for (const { headers } of seen.splice(0)) {
        const id = headers['ce_id'] ?? '';
        missing.delete(id);
        if (!flood.hasSent(id)) strange.push(id);
      }
      expect(missing.size).toBe(0);
    },
    { timeoutMs: 60_000, intervalMs: 250, message: 'every accepted event is on the topic' },
  );
  await looking.finally(close);
  expect(strange).toEqual([]);
}, 240_000);
