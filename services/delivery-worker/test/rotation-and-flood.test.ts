import { createHmac, randomUUID } from 'node:crypto';
import { configurationKey, parseKeyring, sealSecret } from '@webhooks/contracts';
import { generateSecret } from '@webhooks/outbound';
import { eventually, randomName, startEndpoint } from '@webhooks/testkit';
import type { Arrival } from '@webhooks/testkit';
import { WAIT, eventFor, openRig } from './rig.js';
import type { Rig } from './rig.js';
import { KEYRING } from './start-worker.js';

const TIMES_AS_MANY = 100;
const FEW = 20;
/** Of its sixteen slots at first: a backlog of more than 10 s. */
const SLOW_MS = 500;

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.stop());

/** Which of these secrets verify one of the signatures, as Standard Webhooks 1.0.0 says, without our own code. */
function verifiedBy({ headers, id, body }: Arrival, secrets: readonly string[]): number[] {
  const signatures = (headers['webhook-signature'] ?? '').split(' ');
  const verifies = (secret: string): boolean => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    const hmac = createHmac('sha256', key)
      .update(`${id}.${headers['webhook-timestamp'] ?? ''}.`)
      .update(body);
    return signatures.includes(`v1,${hmac.digest('base64')}`);
  };
  return secrets.flatMap((secret, index) => (verifies(secret) ? [index] : []));
}

it('after a rotation between two attempts the second one is verified by both secrets', async () => {
  const endpoint = await startEndpoint({ reply: 500 });
  const [tenantId, ref] = [randomName('tenant'), randomUUID()];
  const secrets = [generateSecret(), generateSecret()] as const;
  const [old, next] = secrets.map((secret) => ({
    sealed: sealSecret(parseKeyring(KEYRING), secret, configurationKey(tenantId, ref)),
  }));
  const before = old ? [old] : [];
  const configuration = await rig.register(endpoint, { tenantId, ref, secrets: before });
  await rig.bench.send(eventFor(configuration));
  await eventually(() => expect(endpoint.arrivals).toHaveLength(1), WAIT);
  const overlap = before.map((one) => ({ ...one, expiresAt: new Date(Date.now() + 60_000).toISOString() }));
  await rig.bench.configure({
    ...configuration,
    revision: 2,
    secrets: [...(next ? [next] : []), ...overlap],
  });
  endpoint.replyWith(200);
  await rig.untilTimeline(ref, ['1 500', '2 200']);
  expect(endpoint.arrivals.map((arrival) => verifiedBy(arrival, secrets))).toEqual([[0], [0, 1]]);
  await endpoint.close();
});

it(`a tenant that sends ${TIMES_AS_MANY} times as much does not keep another one waiting`, async () => {
  const flooded = await startEndpoint({
    reply: { kind: 'status', status: 200, delayMs: SLOW_MS },
    remember: 1,
  });
  const quiet = await startEndpoint();
  const [hot, other] = [await rig.register(flooded), await rig.register(quiet)];
  await rig.bench.sendAll(Array.from({ length: TIMES_AS_MANY * FEW }, () => eventFor(hot)));
  await eventually(() => expect(flooded.stats().arrivals).toBeGreaterThan(FEW), WAIT);
  await rig.bench.sendAll(Array.from({ length: FEW }, () => eventFor(other)));
  await eventually(() => expect(quiet.stats().arrivals).toBe(FEW), WAIT);
  // What came first and is a hundred times as much is not through by then.
  expect(flooded.stats().arrivals).toBeLessThan(TIMES_AS_MANY * FEW);
  // Nobody has to wait for the rest.
  await rig.bench.configure({ ...hot, revision: 2, enabled: false });
  await flooded.close();
  await quiet.close();
}, 120_000);
