import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@webhooks/client';
import { refOf } from '@webhooks/ledger';
import { buildEvent, createRandom, eventually } from '@webhooks/testkit';
import type { Random } from '@webhooks/testkit';
import type { Door } from '../door.js';
import { FUZZ_TENANTS } from '../fuzz-world.js';
import type { FuzzWorld } from '../fuzz-world.js';
import { documentOf } from './documents.js';
import { IN_FORCE_MS } from '../../in-force.js';
import { createHttpDoor } from './http-door.js';
import type { Template } from './request.js';
import { makeTemplate } from './template.js';

const TENANT = FUZZ_TENANTS.queryApi;
const WEBHOOKS = '/integration/v1/webhooks';
const PIX = '/integration/v1/pix';
const FROM = '2026-01-01T00:00:00Z';

/** What there is to ask for. */
interface Known {
  readonly ref: string;
  readonly txId: string;
  readonly endToEndId: string;
  readonly deliveryId: string;
}

/** One endpoint, and one event that was delivered to it. */
async function prepare(world: FuzzWorld, client: Client): Promise<Known> {
  const endpoint = await world.openEndpoint(200);
  const ref = refOf('/fuzz/query-api');
  const eventType = 'PIX_DYNAMIC_PAID';
  const endpointUrl = `https://localhost:${endpoint.port}/query-api`;
  await client.register({ ref, eventType, endpointUrl });
  await delay(IN_FORCE_MS);
  const event = buildEvent({ tenantId: TENANT, eventType }, createRandom(1));
  if (event.eventType !== eventType) throw new Error('expected a payment of a charge');
  await client.postEvent(event);
  const deliveryId = await eventually(async () => {
    const { data } = await client.deliveries({ ref, status: 'delivered' });
    return data[0]?.deliveryId ?? false;
  });
  return { ref, deliveryId, txId: event.data.txId, endToEndId: event.data.endToEndId };
}

const below = (path: string, name: string, parameter: string, rest = '') => ({
  path: `${path}/{${parameter}}${rest}`,
  target: `${path}/${name}${rest}`,
});

function templatesOf({ ref, txId, endToEndId, deliveryId }: Known, token: string) {
  const deliveries = `${WEBHOOKS}/deliveries`;
  const redeliveries = `${WEBHOOKS}/redeliveries`;
  const transaction = `${PIX}/transaction`;
  const get = (parts: { path: string; target?: string }): Template =>
    makeTemplate({ method: 'GET', token, ...parts });
  const post = (parts: { path: string; target?: string }, value?: unknown): Template =>
    makeTemplate({ method: 'POST', token, ...parts, value });
  return [
    get({ path: transaction, target: `${transaction}?endToEndId=${endToEndId}` }),
    get(below(`${PIX}/cob`, txId, 'txId')),
    get({ path: deliveries, target: `${deliveries}?ref=${ref}&status=delivered&limit=3&from=${FROM}` }),
    get({ path: deliveries }),
    get(below(deliveries, deliveryId, 'deliveryId')),
    post(below(deliveries, deliveryId, 'deliveryId', '/redeliver')),
    get({ path: redeliveries, target: `${redeliveries}?limit=2` }),
    post(
      { path: redeliveries },
      { ref, eventType: 'PIX_DYNAMIC_PAID', from: FROM, to: '2030-01-01T00:00:00Z' },
    ),
    post({ path: redeliveries }, { ref, status: 'delivered', from: FROM, dryRun: true }),
    get(below(redeliveries, 'x'.repeat(26), 'id')),
    get(below(WEBHOOKS, ref, 'ref', '/health')),
    post(below(WEBHOOKS, ref, 'ref', '/test')),
  ] as const;
}

/** Queries, headers, paths and bytes for query-api, around one delivery that is there. */
export async function openQueryApiDoor(world: FuzzWorld): Promise<Door> {
  const client = world.clientOf(TENANT);
  const token = await client.token();
  const known = await prepare(world, client);
  const [transaction, ...others] = templatesOf(known, token);
  return createHttpDoor({
    name: 'query-api',
    origin: world.stack.description().queryApi ?? '',
    document: documentOf('query-api'),
    lanes: 4,
    batchSize: 300,
    template: (random: Random) => random.pick([transaction, ...others]),
    probe: () => transaction,
  });
}
