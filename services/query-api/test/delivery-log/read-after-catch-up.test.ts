import { TOPICS, encodeAttemptPack, encodeEvent } from '@webhooks/contracts';
import { buildEvent, randomName } from '@webhooks/testkit';
import { startQueryApi } from '../support/start-query-api.js';
import type { RunningQueryApi } from '../support/start-query-api.js';
import { delivered } from './support/entries.js';

const TENANT = randomName('tenant');
const DELIVERIES = '/integration/v1/webhooks/deliveries';
let service: RunningQueryApi;
let authorization: string;
beforeAll(async () => {
  service = await startQueryApi();
  authorization = `Bearer ${await service.desk.tokenOf(TENANT, 'delivery.read')}`;
});
afterAll(() => service.stop());

/** Asked again while it is told to: other tests fill the same topics. */
async function answerOf(path: string): Promise<string> {
  for (;;) {
    const response = await fetch(`${service.url}${DELIVERIES}${path}`, { headers: { authorization } });
    const text = await response.text();
    if (response.status !== 503) return `${response.status} ${text}`;
    expect(response.headers.get('retry-after')).toBe('1');
  }
}

it('an attempt that Kafka has at the request is found by its id, its event, its Pix and its charge', async () => {
  for (let round = 0; round < 10; round += 1) {
    const event = buildEvent({ tenantId: TENANT, eventType: 'PIX_DYNAMIC_PAID' });
    const { txId, endToEndId } = event.data as { readonly txId: string; readonly endToEndId: string };
    const entry = delivered({}, { tenantId: TENANT, eventId: event.id });
    const paths = [
      ...[`/${entry.deliveryId}`, `?eventId=${event.id}`],
      ...[`?endToEndId=${endToEndId}`, `?txId=${txId}`],
    ];
    await service.publish(
      { topic: TOPICS.events, key: endToEndId, value: encodeEvent(event) },
      { topic: TOPICS.attempts, key: entry.deliveryId, value: encodeAttemptPack([entry]) },
    );
    for (const answer of await Promise.all(paths.map(answerOf)))
      expect(answer).toMatch(new RegExp(`^200 .*${entry.deliveryId}`, 'u'));
  }
});
