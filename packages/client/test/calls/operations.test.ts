import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createClient } from '../../src/index.js';
import type { Client, RequestOptions } from '../../src/index.js';
import { ScriptedService } from '../support/scripted-service.js';

const openapi = parse(readFileSync(join(import.meta.dirname, '..', '..', 'openapi.yaml'), 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
};
const WEBHOOK = { eventType: 'PIX_OUT', endpointUrl: 'https://x.y' } as const;
const EVENT = {
  eventType: 'PIX_STATIC',
  occurredAt: 'x',
  data: { endToEndId: 'e', amount: '1.00' },
} as const;
const RANGE = { from: '2026-11-21T00:00:00Z' } as const;

/** Each call of the SDK that is a single request; the others are made of these. */
const CALLS: Readonly<Record<string, (client: Client, options?: RequestOptions) => Promise<unknown>>> = {
  register: (client, options) => client.register(WEBHOOK, options),
  update: (client, options) => client.update(WEBHOOK, options),
  list: (client, options) => client.list({}, options),
  get: (client, options) => client.get('ID', options),
  rotateSecret: (client, options) => client.rotateSecret('ID', {}, options),
  removeSecret: (client, options) => client.removeSecret('ID', options),
  egress: (client, options) => client.egress(options),
  policy: (client, options) => client.policy('ID', options),
  setPolicy: (client, options) => client.setPolicy('ID', {}, options),
  removePolicy: (client, options) => client.removePolicy('ID', options),
  postEvent: (client, options) => client.postEvent(EVENT, options),
  postEvents: (client, options) => client.postEvents([EVENT], options),
  postEventLines: (client, options) => client.postEventLines(JSON.stringify(EVENT), options),
  charge: (client, options) => client.charge('ID', options),
  transaction: (client, options) => client.transaction('ID', options),
  transactions: (client, options) => client.transactions(RANGE, options),
  notification: (client, options) => client.notification('ID', options),
  notifications: (client, options) => client.notifications({}, options),
  deliveries: (client, options) => client.deliveries({}, options),
  delivery: (client, options) => client.delivery('ID', options),
  redeliver: (client, options) => client.redeliver('ID', options),
  send: (client, options) => client.send('e', 'r', options),
  redeliveries: (client, options) => client.redeliveries({}, options),
  countRedelivery: (client, options) => client.countRedelivery(RANGE, options),
  startRedelivery: (client, options) => client.startRedelivery(RANGE, options),
  redelivery: (client, options) => client.redelivery('ID', options),
  cancelRedelivery: (client, options) => client.cancelRedelivery('ID', options),
  changes: (client, options) => client.changes('ID', options),
  alertEndpoints: (client, options) => client.alertEndpoints(options),
  createAlertEndpoint: (client, options) =>
    client.createAlertEndpoint({ endpointUrl: 'https://x.y' }, options),
  deleteAlertEndpoint: (client, options) => client.deleteAlertEndpoint('ID', options),
  overview: (client, options) => client.overview(options),
  statement: (client, options) => client.statement('ID', options),
  health: (client, options) => client.health('ID', options),
  sendTest: (client, options) => client.sendTest('ID', options),
};
const COMPOSED = [
  ...['token', 'eachWebhook', 'eachTransaction', 'eachDelivery', 'eachRedelivery', 'notificationPages'],
];

const described = Object.entries(openapi.paths).flatMap(([path, item]) =>
  Object.keys(item)
    .filter((method) => /^(get|post|put|delete|patch)$/.test(method))
    .map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/, 'ID')}`),
);

let service: ScriptedService;
let client: Client;

beforeAll(async () => {
  service = await ScriptedService.open();
  client = createClient({
    baseUrl: service.url,
    credentials: { tokenEndpoint: `${service.url}/token`, clientId: 'a', clientSecret: 'b' },
    maxRetries: 0,
  });
});
afterAll(() => service.close());

describe('the SDK', () => {
  it('has a call for every operation of every API, and calls nothing else', async () => {
    service.script = Object.keys(CALLS).map(() => ({ status: 404 }));
    for (const call of Object.values(CALLS)) await call(client).catch(() => undefined);
    const lines = service.requests.map(({ line }) => line.replace(/\?.*/, ''));
    expect([...new Set(lines.filter((line) => line !== 'POST /token'))].sort()).toEqual(described.sort());
    expect(Object.keys(client).sort()).toEqual([...Object.keys(CALLS), ...COMPOSED].sort());
  });

  it.each(Object.entries(CALLS))(
    'ends %s at a signal, with its reason, and sends nothing then',
    async (_, call) => {
      const before = service.requests.length;
      const signal = AbortSignal.abort(new Error('enough'));
      await expect(call(client, { signal })).rejects.toThrow('enough');
      expect(service.requests.length).toBe(before);
    },
  );
});
