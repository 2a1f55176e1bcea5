import { startEndpoint } from '@webhooks/testkit';
import type { Endpoint, EndpointOptions } from '@webhooks/testkit';
import { createSender } from '../src/index.js';
import type { Sender, SenderOptions, SendResult } from '../src/index.js';

const closing: (() => Promise<void>)[] = [];
async function start(options: EndpointOptions = {}): Promise<Endpoint> {
  const endpoint = await startEndpoint(options);
  closing.push(() => endpoint.close());
  return endpoint;
}
function open(endpoint: Endpoint, options: SenderOptions = {}): Sender {
  const sender = createSender({
    addresses: { allowLoopback: true },
    extraCaFile: endpoint.caFile,
    ...options,
  });
  closing.push(() => sender.close());
  return sender;
}
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const post = (sender: Sender, endpoint: Endpoint, body = '{"id":"evt_1"}'): Promise<SendResult> =>
  sender.post({
    target: { origin: endpoint.origin, path: '/hook?token=s3cret' },
    headers: ['content-type', 'application/json', 'webhook-id', 'evt_1'],
    body: Buffer.from(body),
  });

describe('a sender', () => {
  it('posts exactly the bytes and headers it was given', async () => {
    const endpoint = await start();
    const sender = open(endpoint);
    const result = await post(sender, endpoint, '{"id":"evt_1","text":"é 🙂"}');
    expect(result).toMatchObject({ kind: 'answered', status: 200, cut: false });
    const [arrival] = endpoint.arrivals;
    expect(arrival).toMatchObject({ method: 'POST', path: '/hook?token=s3cret' });
    expect(arrival?.body.toString()).toBe('{"id":"evt_1","text":"é 🙂"}');
    expect(arrival?.headers).toEqual({
      host: `localhost:${endpoint.port}`,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': '31',
      'webhook-id': 'evt_1',
    });
  });
});
