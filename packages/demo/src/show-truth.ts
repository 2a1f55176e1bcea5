import { setTimeout as delay } from 'node:timers/promises';
import type { Client, DeliveryDetail } from '@webhooks/client';
import { clientFor } from '@webhooks/ledger';
import type { Print } from '@webhooks/ledger';
import type { Stack } from '@webhooks/stack';
import { buildEvent, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';

const TENANT = 'acme';
/** The same at each start, so that a second start moves the endpoint of the first one. */
const REF = '0193a000-0000-7000-8000-0000000a5c5e';
/** A registration is in force within this time after its response. */
const IN_FORCE_MS = 1_000;
const PATIENCE_MS = 30_000;
const LOOK_MS = 100;

/** Calls `look` until it returns something. Throws when it returned nothing for 30 s. */
async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const endAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > endAt)
      throw new Error(
        `${what} within ${PATIENCE_MS / 1_000} s; see query-api.log and delivery-worker.log in the folder logs`,
      );
    await delay(LOOK_MS);
  }
}

/** A receiver that queries the real state inside its handler, before it responds. */
async function openAsking(stack: Stack, client: Client, print: Print): Promise<Endpoint> {
  const { certPem, keyPem } = await stack.authority.issue(['localhost']);
  return startEndpoint({
    certPem,
    keyPem,
    answer: async ({ body }) => {
      const { data } = JSON.parse(body.toString('utf8')) as { data: { txId: string } };
      const { status, amount = '?', pix } = await client.charge(data.txId);
      print(`  the receiver reads: charge ${status}, amount ${amount}, ${pix.length} payment`);
      return 200;
    },
  });
}

function showLog({ deliveryId, status, attempts }: DeliveryDetail, print: Print): void {
  print(`  log of delivery ${deliveryId.slice(0, 12)}…, status ${status}:`);
  for (const { cycle, attempt, at, durationMs, result, status: answered, error } of attempts) {
    const why = cycle === '0' ? 'first delivery' : 'redelivery';
    print(
      `    ${at}  ${why}, attempt ${attempt}: ${result} ${answered ?? error ?? ''} after ${Math.round(durationMs)} ms`,
    );
  }
}

/** Waits until a delivery has this many attempts in its log, and returns it. */
const made = (client: Client, eventId: string, times: number): Promise<DeliveryDetail> =>
  until(`the delivery log shows no attempt ${times} of the event ${eventId}`, async () => {
    const { data } = await client.deliveries({ ref: REF, eventId, status: 'delivered' });
    const [found] = data;
    const detail = found && (await client.delivery(found.deliveryId));
    return detail && detail.attempts.length >= times ? detail : undefined;
  });

/**
 * The last part of the demonstration: a receiver that queries the real state inside its handler, a redelivery, and the
 * delivery log.
 */
export async function showTruth(stack: Stack, print: Print): Promise<void> {
  const client = clientFor(stack.clientOf(TENANT), stack.description());
  const endpoint = await openAsking(stack, client, print);
  const eventType = 'PIX_DYNAMIC_PAID';
  const webhook = { ref: REF, eventType, applicationId: 'asks', endpointUrl: endpoint.url } as const;
  try {
    const known = await client.list({ ref: REF });
    await (known.results > 0 ? client.update({ ...webhook, enabled: true }) : client.register(webhook));
    await delay(IN_FORCE_MS);
    print(
      '· one more payment; its receiver queries the real state before it responds 200, then it is redelivered:',
    );
    const event = buildEvent({ tenantId: TENANT, eventType });
    await client.postEvent(event);
    const { deliveryId } = await made(client, event.id, 1);
    await client.redeliver(deliveryId);
    showLog(await made(client, event.id, 2), print);
  } finally {
    // Otherwise the next start sends events to a port where nobody listens.
    await client.update({ ...webhook, enabled: false }).catch(() => undefined);
    await endpoint.close();
  }
}
