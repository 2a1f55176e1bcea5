import { createClient } from '../../src/index.js';
import type { Client } from '../../src/index.js';
import { LIST, ScriptedService } from '../support/scripted-service.js';

let service: ScriptedService;
let client: Client;

beforeEach(async () => {
  service = await ScriptedService.open();
  const { url } = service;
  const credentials = { tokenEndpoint: `${url}/token`, clientId: 'a', clientSecret: 'b' };
  client = createClient({ baseUrl: url, credentials });
});
afterEach(() => service.close());

const calls = (): string[] => service.requests.map(({ line }) => line);

describe('a list', () => {
  it('is read to its end, page by page, with its filter', async () => {
    const refs: string[] = [];
    service.script = ['a', 'b'].map((cursor) => ({ status: 200, body: { ...LIST, nextCursor: cursor } }));
    for await (const { ref } of client.eachWebhook({ enabled: true })) refs.push(ref);
    expect(refs).toEqual(['r', 'r', 'r']);
    expect(calls().slice(1)).toEqual(
      ['', '&cursor=a', '&cursor=b'].map((more) => `GET /integration/v1/webhooks?enabled=true${more}`),
    );
  });

  it.each([
    ['payments', (own: Client) => own.eachTransaction({ from: 'f' }), '/pix/transactions?from=f&cursor=c'],
    ['deliveries', (own: Client) => own.eachDelivery({ txId: 't' }), '/webhooks/deliveries?txId=t&cursor=c'],
    ['redeliveries', (own: Client) => own.eachRedelivery(), '/webhooks/redeliveries?cursor=c'],
  ])('reads every page of %s', async (_, each, last) => {
    const page = { data: [], results: 0 };
    service.script = [{ ...page, nextCursor: 'c' }, page].map((body) => ({ status: 200, body }));
    for await (const found of each(client)) throw new Error(`nothing is there: ${JSON.stringify(found)}`);
    expect(calls().at(-1)).toBe(`GET /integration/v1${last}`);
  });

  it('of notifications ends when there are no more, and never ends with a wait', async () => {
    const page = { data: [], results: 0 };
    service.script = [true, false, false, false].map((hasMore, index) => ({
      ...{ status: 200, body: { ...page, hasMore, nextCursor: `1.${index}` } },
    }));
    const cursors: string[] = [];
    for await (const { nextCursor } of client.notificationPages({ after: 'now' })) cursors.push(nextCursor);
    expect(cursors).toEqual(['1.0', '1.1']);
    for await (const { nextCursor } of client.notificationPages({ after: '1.1', wait: 1 }))
      if (cursors.push(nextCursor) === 4) break;
    expect(calls().slice(1)).toEqual(
      ['after=now', 'after=1.0', 'after=1.1&wait=1', 'after=1.2&wait=1'].map(
        (query) => `GET /integration/v1/notifications?${query}`,
      ),
    );
  });

  it.each([
    ['webhooks', { ...LIST, nextCursor: 'c' }, (own: Client) => own.eachWebhook()],
    [
      'notifications',
      { data: [], results: 0, nextCursor: '1.0', hasMore: true },
      (own: Client) => own.notificationPages(),
    ],
  ])('of %s ends with an error when a page leads to itself', async (_, body, each) => {
    service.script = Array.from({ length: 3 }, () => ({ status: 200, body }));
    const read = async (): Promise<void> => {
      const found: unknown[] = [];
      for await (const element of each(client)) if (found.push(element) === 3) break;
    };
    await expect(read()).rejects.toThrow('a page leads to itself');
    expect(calls()).toHaveLength(3);
  });

  it('ends at a signal between its pages', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    service.script = [{ status: 200, body: { ...LIST, nextCursor: 'c1' } }];
    const read = async (): Promise<void> => {
      for await (const { ref } of client.eachWebhook({}, { signal }))
        controller.abort(new Error(`enough of ${ref}`));
    };
    await expect(read()).rejects.toThrow('enough of r');
    expect(calls()).toHaveLength(2);
  });
});
