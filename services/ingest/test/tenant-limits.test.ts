import { createClient } from '@webhooks/client';
import type { DevelopmentClient } from '@webhooks/local';
import { buildEvent, openApiDocument } from '@webhooks/testkit';
import { CLIENTS, startIngest } from './start-ingest.js';
import type { RunningIngest } from './start-ingest.js';

const PATH = '/integration/v1/events';
const { faultsOf } = openApiDocument(new URL('../openapi.yaml', import.meta.url));

let ingest: RunningIngest;

// One event comes back in a second, and a burst holds a batch: what is left of it after one does not change what follows.
beforeAll(async () => {
  ingest = await startIngest({
    ...{ TENANT_EVENTS_PER_SECOND: '1', TENANT_EVENTS_BURST: '1000' },
    // Longer than a busy machine lets Kafka wait.
    PUBLISH_TIMEOUT_MS: '60000',
  });
});
afterAll(() => ingest.stop());

/** Posts a batch. When it is taken, every event of it was published: 202 says only that one was. */
async function postBatch(client: DevelopmentClient, events: number): Promise<Response> {
  const { tenantId } = client;
  const lines = Array.from({ length: events }, () => JSON.stringify(buildEvent({ tenantId })));
  const response = await post(client, lines.join('\n'));
  const { results = [] } = (await response.clone().json()) as { results?: { status: string }[] };
  const warnings = ingest.lines.filter(({ level }) => level === 'warn');
  const lost = results.filter(({ status }) => status !== 'accepted');
  expect(lost.map((result) => ({ ...result, warnings }))).toEqual([]);
  return response;
}

async function post(client: DevelopmentClient, body: string): Promise<Response> {
  const { clientId, clientSecret } = client;
  const token = await createClient({
    baseUrl: ingest.url,
    credentials: { tokenEndpoint: ingest.tokenEndpoint, clientId, clientSecret },
  }).token();
  const response = await fetch(`${ingest.url}${PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
    body,
  });
  const contentType = response.headers.get('content-type');
  const answer = { method: 'POST', path: PATH, status: response.status, contentType };
  expect(faultsOf({ ...answer, body: await response.clone().json() })).toEqual([]);
  return response;
}

const publishedBy = async (): Promise<number> =>
  Number(/result="acknowledged"\} (\d+)/.exec(await ingest.metrics())?.[1] ?? 0);

it('a batch of more events than its tenant has left is refused as a whole; others and the operator are not', async () => {
  expect((await postBatch(CLIENTS.acme, 700)).status).toBe(202);
  const refused = await postBatch(CLIENTS.acme, 700);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(300);
  expect(await refused.json()).toMatchObject({ code: 'too-many-requests' });
  expect(await publishedBy()).toBe(700);

  expect((await postBatch(CLIENTS.acme, 200)).status).toBe(202);
  expect((await postBatch(CLIENTS.globex, 700)).status).toBe(202);
  expect((await postBatch(CLIENTS.payments, 700)).status).toBe(202);
  expect(await publishedBy()).toBe(2_300);
  expect(await ingest.metrics()).toContain('http_requests_shed_total{reason="tenant-events"} 1');

  // What is refused as a whole costs by its bytes: of 512 KiB as much as 256 events, and 100 are left.
  const wrong = await post(CLIENTS.acme, `{"a":1,"a":"${'x'.repeat(524_288)}"}`);
  expect(wrong.status).toBe(429);
  expect((await post(CLIENTS.globex, `{"a":1,"a":"${'x'.repeat(524_288)}"}`)).status).toBe(422);
  expect((await postBatch(CLIENTS.globex, 100)).status).toBe(429);
  // Lines are counted before they are parsed: a thousand short ones are 2 KB.
  expect((await post(CLIENTS.globex, 'x\n'.repeat(1_000))).status).toBe(429);
});
