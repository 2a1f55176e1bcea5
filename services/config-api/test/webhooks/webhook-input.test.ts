import type { ApiRequest } from '@webhooks/http-api';
import { DEFAULT_URL_POLICY } from '@webhooks/outbound';
import { readWebhookInput } from '../../src/webhooks/webhook-input.js';

const HOOK = { eventType: 'PIX_STATIC', endpointUrl: 'https://hook.acme.com.br/1' };

const read = (applicationId: string) =>
  readWebhookInput(
    {
      identity: { clientId: 'client', tenantId: 'acme', scopes: new Set() },
      requestId: 'request',
      params: {},
      query: new URLSearchParams(),
      header: (name) => (name === 'content-type' ? 'application/json' : undefined),
      body: Buffer.from(JSON.stringify({ ...HOOK, applicationId })),
      isOver: () => false,
    } satisfies ApiRequest,
    DEFAULT_URL_POLICY,
  );

it('an application that is too long is refused before it is composed, which would cost 40 ms', () => {
  const marks = `a${'\u0301\u0323'.repeat(3_750)}`;
  const begin = process.threadCpuUsage();
  for (let time = 0; time < 200; time += 1)
    expect(() => read(marks)).toThrow('applicationId must be a string of 1 to 128 characters');
  const { user, system } = process.threadCpuUsage(begin);
  expect((user + system) / 1_000).toBeLessThan(1_000);
});

it('an application has 128 characters once it is composed, of up to four code units each', () => {
  const longest = '\u1fa7'.repeat(128);
  expect(longest.normalize('NFD')).toHaveLength(4 * 128);
  expect(read(longest.normalize('NFD')).applicationId).toBe(longest);
});
