import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createClient } from '../src/index.js';
import type { Client } from '../src/index.js';
import { ScriptedService } from './support/scripted-service.js';

const openapi = parse(readFileSync(join(import.meta.dirname, '..', 'openapi.yaml'), 'utf8')) as {
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
const CALLS: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  register: (client) => client.register(WEBHOOK),
  update: (client) => client.update(WEBHOOK),
  list: (client) => client.list(),
  get: (client) => client.get('ID'),
  rotateSecret: (client) => client.rotateSecret('ID'),
  removeSecret: (client) => client.removeSecret('ID'),
  postEvent: (client) => client.postEvent(EVENT),
  postEvents: (client) => client.postEvents([EVENT]),
  postEventLines: (client) => client.postEventLines(JSON.stringify(EVENT)),
  charge: (client) => client.charge('ID'),
  transaction: (client) => client.transaction('ID'),
  notifications: (client) => client.notifications(),
  deliveries: (client) => client.deliveries(),
  delivery: (client) => client.delivery('ID'),
  redeliver: (client) => client.redeliver('ID'),
  redeliveries: (client) => client.redeliveries(),
  countRedelivery: (client) => client.countRedelivery(RANGE),
  startRedelivery: (client) => client.startRedelivery(RANGE),
  redelivery: (client) => client.redelivery('ID'),
  cancelRedelivery: (client) => client.cancelRedelivery('ID'),
  health: (client) => client.health('ID'),
  sendTest: (client) => client.sendTest('ID'),
};
const COMPOSED = ['token', 'eachWebhook', 'eachDelivery', 'eachRedelivery', 'notificationPages'];

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
      const withSignal = new Proxy(client, {
        get:
          (target, name: keyof Client) =>
          (...given: unknown[]) => {
            const work = target[name] as (...all: unknown[]) => unknown;
            return work(...given, ...Array.from({ length: optionsPlace(name) - given.length }), { signal });
          },
      });
      await expect(call(withSignal)).rejects.toThrow('enough');
      expect(service.requests.length).toBe(before);
    },
  );
});

/** How many arguments come before the options. */
const optionsPlace = (name: string): number => (name === 'rotateSecret' ? 2 : 1);
