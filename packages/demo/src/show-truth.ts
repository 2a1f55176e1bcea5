import type { Client, DeliveryDetail } from '@webhooks/client';
import { clientFor, print, registerWebhooks } from '@webhooks/testkit/account';
import type { Stack } from '@webhooks/local';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';

const TENANT = 'acme';
/** The same at each start, so that a second start moves the endpoint of the first one. */
const REF = '0193a000-0000-7000-8000-0000000a5c5e';
/** A receiver that queries the real state inside its handler, before it responds. */
async function openQuerying(stack: Stack, client: Client): Promise<Endpoint> {
  const { certPem, keyPem } = await stack.authority.issue(['localhost']);
  return startEndpoint({
    certPem,
    keyPem,
    reply: async ({ body }) => {
      const { data } = JSON.parse(body.toString('utf8')) as { data: { txId: string } };
      const { status, amount = '?', pix } = await client.charge(data.txId);
      print(`  the receiver reads: charge ${status}, amount ${amount}, ${pix.length} payment`);
      return 200;
    },
  });
}

function showLog({ deliveryId, status, attempts }: DeliveryDetail): void {
  print(`  log of delivery ${deliveryId.slice(0, 12)}…, status ${status}:`);
  for (const { cycle, attempt, at, durationMs, result, status: httpStatus, error } of attempts) {
    const why = cycle === '0' ? 'first delivery' : 'redelivery';
    print(
      `    ${at}  ${why}, attempt ${attempt}: ${result} ${httpStatus ?? error ?? ''} after ${Math.round(durationMs)} ms`,
    );
  }
}

/** Waits until a delivery has this many attempts in its log, and returns it. */
const untilAttempted = (client: Client, eventId: string, times: number): Promise<DeliveryDetail> =>
  eventually(
    async () => {
      const [found] = (await client.deliveries({ ref: REF, eventId, status: 'delivered' })).data;
      const detail = found && (await client.delivery(found.deliveryId));
      return detail && detail.attempts.length >= times ? detail : false;
    },
    {
      timeoutMs: 30_000,
      intervalMs: 100,
      message: `the delivery log shows attempt ${times} of ${eventId}; see logs/`,
    },
  );

/**
 * The last part of the demonstration: a receiver that queries the real state inside its handler, a redelivery, and the
 * delivery log.
 */
export async function showQueries(stack: Stack): Promise<void> {
  const client = clientFor(stack.description(), TENANT);
  const endpoint = await openQuerying(stack, client);
  const eventType = 'PIX_DYNAMIC_PAID';
  const webhook = { ref: REF, eventType, applicationId: 'asks', endpointUrl: endpoint.url } as const;
  try {
    await registerWebhooks(() => client, [{ tenantId: TENANT, ...webhook }]);
    print(
      '· one more payment; its receiver queries the real state before it responds 200, then it is redelivered:',
    );
    const event = buildEvent({ tenantId: TENANT, eventType });
    await client.postEvent(event);
    const { deliveryId } = await untilAttempted(client, event.id, 1);
    await client.redeliver(deliveryId);
    showLog(await untilAttempted(client, event.id, 2));
  } finally {
    // Otherwise the next start sends events to a port where nobody listens.
    await client.update({ ...webhook, enabled: false }).catch(() => undefined);
    await endpoint.close();
  }
}
