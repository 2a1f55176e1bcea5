import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ApiRequest } from '@webhooks/http-api';
import type { Sink } from '@webhooks/kafka';
import { createLogger, NO_TRACING, Registry } from '@webhooks/runtime';
import { buildEvent } from '@webhooks/testkit';
import { createPublishEvent } from '../src/accept-event.js';
import { postEvents } from '../src/post-events.js';
import type { PostPorts } from '../src/post-events.js';

const POSTS = 50;
const VALUES = 31_800;
/** Parsed, such a body takes 1.9 MiB; its record takes its bytes and 3 KiB. */
const MOST_BYTES_EACH = 200_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

it('an event that waits for Kafka holds its encoded bytes, not the parsed body', async () => {
  const waiting: unknown[] = [];
  const send = (record: unknown) => new Promise((resolve) => waiting.push(record, resolve));
  const scope = { registry: new Registry(), log: createLogger('test', 'error') };
  const config = { eventSource: 'test', publishTimeoutMs: 5_000 };
  const publish = createPublishEvent({ send } as unknown as Sink, config, scope);
  const none = (): undefined => undefined;
  const ports = {
    publish,
    tenantEvents: { take: none, check: none },
    pending: { take: none, give: none },
    tracing: NO_TRACING,
  };
  const extra = Array.from({ length: VALUES }, () => ({}));
  const body = Buffer.from(JSON.stringify({ ...buildEvent({ tenantId: 'acme' }), extra }));
  const request = {
    ...{ identity: { tenantId: 'acme', scopes: new Set() }, body },
    header: () => 'application/json',
  } as unknown as ApiRequest;
  collect();
  const before = process.memoryUsage().heapUsed;
  const pending = Array.from({ length: POSTS }, () => postEvents(request, ports as unknown as PostPorts));
  await new Promise(setImmediate);
  collect();
  const grown = process.memoryUsage().heapUsed - before;
  expect(waiting).toHaveLength(2 * pending.length);
  expect(grown / POSTS).toBeLessThan(MOST_BYTES_EACH);
});
