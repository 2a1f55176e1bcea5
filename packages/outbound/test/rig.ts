import { startEndpoint } from '@webhooks/testkit';
import type { Endpoint, EndpointOptions } from '@webhooks/testkit';
import { createSender } from '../src/index.js';
import type { Sender, SenderOptions, SendResult } from '../src/index.js';
import { startConnectProxy, type ConnectProxy, type ProxyScript } from './connect-proxy.js';

/** Endpoints and senders of one test, closed after it in reverse order. */
export class Rig {
  readonly #closing: (() => Promise<void>)[] = [];

  async endpoint(options: EndpointOptions = {}): Promise<Endpoint> {
    const endpoint = await startEndpoint(options);
    this.#closing.push(() => endpoint.close());
    return endpoint;
  }

  /** Loopback is allowed and the endpoint's authority trusted, unless said otherwise. */
  sender(endpoint: Endpoint, options: SenderOptions = {}): Sender {
    return this.plainSender({
      addresses: { allowLoopback: true },
      ...(endpoint.caFile === '' ? {} : { extraCaFile: endpoint.caFile }),
      ...options,
    });
  }

  async proxy(script: ProxyScript = {}): Promise<ConnectProxy> {
    const proxy = await startConnectProxy(script);
    this.#closing.push(() => proxy.close());
    return proxy;
  }

  plainSender(options: SenderOptions): Sender {
    const sender = createSender(options);
    this.#closing.push(() => sender.close());
    return sender;
  }

  async close(): Promise<void> {
    for (const close of this.#closing.splice(0).reverse()) await close();
  }
}

export const BODY = Buffer.from('{"id":"evt_1"}');

export function post(sender: Sender, origin: string, body: Buffer = BODY): Promise<SendResult> {
  return sender.post({
    tenantId: 'acme',
    target: { origin, path: '/hook?token=s3cret' },
    headers: ['content-type', 'application/json', 'webhook-id', 'evt_1'],
    body,
  });
}

/** So many at once. */
export const postTimes = (count: number, sender: Sender, origin: string): Promise<SendResult[]> =>
  Promise.all(Array.from({ length: count }, () => post(sender, origin)));
