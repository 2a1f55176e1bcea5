import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@webhooks/client';
import { startKafka } from '@webhooks/local';
import type { KafkaEngine } from '@webhooks/local';
import { buildEvent, eventually } from '@webhooks/testkit';
import { CLIENTS, startIngest } from './start-ingest.js';
import type { RunningIngest } from './start-ingest.js';

const dataDir = mkdtempSync(join(tmpdir(), 'ingest-'));
let kafka: KafkaEngine;
let ingest: RunningIngest;

// A broker of its own: it is killed here.
beforeAll(async () => {
  kafka = await startKafka({ dataDir });
  ingest = await startIngest({
    KAFKA_BROKERS: kafka.brokers.join(','),
    PUBLISH_TIMEOUT_MS: '4000',
    MAX_PENDING_BYTES: String(16 * 1_048_576),
  });
});
afterAll(async () => {
  await ingest.stop();
  await kafka.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const post = async (body: string, token: string): Promise<Response> =>
  fetch(`${ingest.url}/integration/v1/events`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });

it('ingest promises nothing while the broker is down, and takes events again afterwards', async () => {
  const { clientId, clientSecret } = CLIENTS.acme;
  const token = await createClient({
    baseUrl: ingest.url,
    credentials: { tokenEndpoint: ingest.tokenEndpoint, clientId, clientSecret },
  }).token();
  // The longest type: two batches of shorter ones are less than the tenant's share.
  const event = JSON.stringify(buildEvent({ tenantId: 'acme', eventType: 'PIX_REVERSAL' }));
  const isTaken = async () => expect((await post(event, token)).status).toBe(202);
  await eventually(isTaken, { timeoutMs: 30_000, message: 'waiting for the first acknowledgement' });

  kafka.kill();
  const [one, batch] = await Promise.all([post(event, token), post(`[${event},{}]`, token)]);
  expect([one.status, one.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await one.json()).toMatchObject({ code: 'unavailable' });
  expect([batch.status, batch.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await batch.json()).toMatchObject({ results: [{ status: 'unavailable' }, { status: 'invalid' }] });

  // Two batches are half of what may wait; see `SharedBudget`.
  const lines = Array.from({ length: 1_000 }, () => event).join('\n');
  const batches = await Promise.all(
    [lines, lines, lines].map((body) => post(`[${body.replaceAll('\n', ',')}]`, token)),
  );
  const statuses = batches.map(({ status }) => status).sort();
  expect(statuses).toEqual([429, 503, 503]);

  await kafka.restart();
  await eventually(isTaken, { timeoutMs: 30_000, message: 'waiting for ingest to reach the broker again' });
  expect(await ingest.metrics()).toMatch(/ingest_events_published_total\{result="failed"\} [1-9]/);
});
