import { Agent } from 'undici';
import { BENCH_EVENT_TYPE } from './make-events.js';

/** A registered webhook, and a token of its tenant. */
export interface Changeable {
  readonly ref: string;
  readonly endpointUrl: string;
  readonly token: string;
}

export interface Changer {
  /** Enables or disables one of the webhooks, in turn. Resolves with the status, or `cut` when no answer came. */
  change(): Promise<string>;
  close(): Promise<void>;
}

/** A change that nobody answers for so long is given up, in milliseconds. */
const TIMEOUT_MS = 30_000;

/** Changes webhooks through config-api over so many keep-alive connections. */
export function openChanger(
  configApi: string,
  webhooks: readonly Changeable[],
  connections: number,
): Changer {
  const agent = new Agent({
    connections,
    pipelining: 1,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  let turn = 0;
  return {
    change: async () => {
      const webhook = webhooks[turn % webhooks.length];
      if (!webhook) throw new Error('no webhook to change');
      const enabled = Math.floor(turn / webhooks.length) % 2 === 0;
      turn += 1;
      const { ref, endpointUrl, token } = webhook;
      try {
        const { statusCode, body } = await agent.request({
          origin: configApi,
          path: '/integration/v1/webhooks',
          method: 'PUT',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ref, eventType: BENCH_EVENT_TYPE, endpointUrl, enabled }),
        });
        await body.dump();
        return String(statusCode);
      } catch {
        return 'cut';
      }
    },
    close: () => agent.close(),
  };
}
