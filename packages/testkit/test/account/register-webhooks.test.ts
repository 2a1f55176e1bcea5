import type { Client, Webhook, WebhookInput } from '@webhooks/client';
import { registerWebhooks } from '../../src/account/register-webhooks.js';

const webhook = { tenantId: 'acme', eventType: 'PIX_OUT', endpointUrl: 'https://localhost/pix' } as const;

/** A client whose registrations are not published until Kafka acknowledges the third one. */
function slowClient() {
  const registered: WebhookInput[] = [];
  const register = (input: WebhookInput): Promise<Partial<Webhook>> => {
    registered.push(input);
    return Promise.resolve(registered.length < 3 ? { published: false } : {});
  };
  return { registered, client: { register } as unknown as Client };
}

it('registers a webhook again until it is published', async () => {
  const { registered, client } = slowClient();
  await registerWebhooks(() => client, [webhook]);
  const { tenantId: _, ...input } = webhook;
  expect(registered).toEqual([input, input, input]);
});
