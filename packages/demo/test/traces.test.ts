import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAYMENT_SYSTEM } from '@webhooks/local';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import { clientFor } from '@webhooks/testkit/account';
import { drawTrace } from './draw-trace.js';
import { startOtlpReceiver } from './otlp-receiver.js';
import type { ReceivedSpan } from './otlp-receiver.js';
import { startTestStack } from './test-stack.js';
import type { TestStack } from './test-stack.js';

const TENANT = 'acme';
const CALLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7';
const LONG = { timeoutMs: 120_000 };

const summary = ({ service, name, attributes }: ReceivedSpan): string =>
  [service, name, attributes['webhook.attempt'] ?? '', attributes['webhook.settlement'] ?? '']
    .join(' ')
    .trim();

/** Posts an event as part of a trace, and returns its id. */
async function post({ stack }: TestStack, flags: string): Promise<string> {
  const description = stack.description();
  const paymentSystem = clientFor(description, PAYMENT_SYSTEM);
  const authorization = `Bearer ${await paymentSystem.token()}`;
  const response = await fetch(`${description.ingest}/integration/v1/events`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', traceparent: `${CALLER}-${flags}` },
    body: JSON.stringify(buildEvent({ tenantId: TENANT, eventType: 'PIX_STATIC' })),
  });
  expect(response.status).toBe(202);
  return ((await response.json()) as { readonly id: string }).id;
}

const spanOf = (name: string, among: readonly ReceivedSpan[]): ReceivedSpan => {
  const found = among.find((span) => span.name === name);
  if (!found) throw new Error(`expected a span ${name}`);
  return found;
};

it('one event is one trace through all services, a retry one of its own with links, and a log line has the trace id', async () => {
  const collector = await startOtlpReceiver();
  const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '0' };
  const worker = { ...tracing, RETRY_DELAYS: '500ms,24h', RETRY_JITTER_PERCENT: '0' };
  const settings = { ingest: tracing, 'delivery-worker': worker, 'query-api': tracing };
  const test = await startTestStack(settings, { withQueryApi: true });
  const { certPem, keyPem } = await test.stack.authority.issue(['localhost']);
  const endpoint = await startEndpoint({ certPem, keyPem });
  try {
    const client = test.clientOf(TENANT);
    await client.register({ eventType: 'PIX_STATIC', endpointUrl: endpoint.url });
    endpoint.replyWith((arrival) => (arrival.headers['webhook-attempt'] === '1' ? 503 : 200));
    const unsampled = await post(test, '00');
    const sampled = await post(test, '01');
    const found = await eventually(() => collector.spans.length >= 8 && [...collector.spans], LONG);

    const event = found.filter(({ traceId }) => traceId === CALLER.slice(3, 35));
    const retry = found.filter(({ traceId }) => traceId !== CALLER.slice(3, 35));
    expect(event.map(summary).sort()).toEqual([
      'delivery-worker POST 1 retry',
      'delivery-worker process payments.events',
      'delivery-worker settle  retry',
      'ingest send payments.events',
      'query-api process webhooks.attempts 1',
    ]);
    expect(retry.map(summary).sort()).toEqual([
      'delivery-worker POST 2 delivered',
      'delivery-worker settle  delivered',
      'query-api process webhooks.attempts 2',
    ]);
    const [attempt, again] = [spanOf('POST', event), spanOf('POST', retry)];
    expect(attempt).toMatchObject({
      failed: true,
      attributes: {
        'server.address': 'localhost',
        'server.port': Number(new URL(endpoint.url).port),
        'http.response.status_code': 503,
        'error.type': '503',
        'webhook.event_id': sampled,
      },
    });
    expect(again.links).toEqual([spanOf('process payments.events', event).spanId, attempt.spanId]);
    expect(spanOf('process webhooks.attempts', event).parentId).toBe(attempt.spanId);
    expect(spanOf('send payments.events', event).parentId).toBe(CALLER.slice(36));
    expect(new Set(retry.map(({ traceId }) => traceId)).size).toBe(1);
    expect(found.filter(({ attributes }) => attributes['webhook.event_id'] === unsampled)).toEqual([]);

    expect(endpoint.arrivals.every(({ headers }) => headers['traceparent'] === undefined)).toBe(true);
    const log = join(test.dataDir, 'logs', 'delivery-worker.log');
    expect(readFileSync(log, 'utf8')).toContain(`"traceId":"${CALLER.slice(3, 35)}"`);
    writeFileSync(join(import.meta.dirname, '..', 'dist', 'trace.svg'), drawTrace(found));
  } finally {
    await Promise.all([test.stop(), endpoint.close()]);
    await collector.close();
  }
}, 300_000);
