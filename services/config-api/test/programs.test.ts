import { configurationKey, keyIdOf, openPolicySecrets, openSecret, parseKeyring } from '@webhooks/contracts';
import { emptyTestEngines } from '@webhooks/local';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { openConfigurationTopic } from './support/configuration-topic.js';
import { SECRETS_KEYS, makeTopics, startConfigApi } from './support/start-config-api.js';

/** Runs a program of the image, beside the service. */
const run = (program: string, args: readonly string[], env: Readonly<Record<string, string>>) =>
  new Promise<{ code: unknown; out: string }>((resolve) => {
    const file = join(import.meta.dirname, '..', 'dist', 'src', `${program}.js`);
    execFile(process.execPath, [file, ...args], { env, timeout: 60_000 }, (error, out, err) =>
      resolve({ code: error?.code ?? 0, out: out + err }),
    );
  });

it('topics plan says what differs, and apply creates and extends, but changes no setting', async () => {
  const { kafkaBrokers } = await emptyTestEngines();
  const env = { KAFKA_BROKERS: kafkaBrokers.join(',') };
  await makeTopics([
    { name: 'payments.events', partitions: 3, configs: { 'retention.ms': '1000' } },
    { name: 'webhooks.dead-letters', partitions: 5, configs: {} },
  ]);
  const plan = await run('topics', ['plan'], env);
  expect(plan.code).toBe(1);
  expect(plan.out).toMatch(/^add {6}payments\.events: 3 partitions become 12$/m);
  expect(plan.out).toMatch(
    /^differs {2}payments\.events: retention\.ms is 1000; .*retention\.ms=604800000$/m,
  );
  expect(plan.out).toMatch(/^leave {4}webhooks\.dead-letters: 5 partitions, expected 3/m);
  expect(plan.out.match(/^create /gm)).toHaveLength(17);

  expect(await run('topics', ['apply'], env)).toEqual({ code: 0, out: `${plan.out}19 topics are there\n` });
  const again = await run('topics', ['plan'], env);
  expect(again.code).toBe(1);
  expect(again.out).toMatch(/^differs {2}payments\.events: retention\.ms is 1000; /m);
  expect(again.out).not.toMatch(/^(create|add) /m);
  const refused = { code: 2, out: 'the argument must be plan or apply\n' };
  expect(await run('topics', ['delete'], env)).toEqual(refused);
  expect((await run('topics', ['plan'], {})).out).toMatch(
    /^the environment is not valid:\n {2}- KAFKA_BROKERS /,
  );
}, 120_000);

const NEW = `k2:${Buffer.alloc(32, 9).toString('base64')}`;
const ONLY_NEW = parseKeyring(NEW);

it('rotate-keys seals with the first key what another one sealed, and config-api publishes it', async () => {
  await makeTopics();
  const topic = openConfigurationTopic();
  const before = await startConfigApi();
  const { tenantId, ...acme } = await before.tenant();
  const hook = { eventType: 'PIX_STATIC', endpointUrl: 'https://hook.acme.com.br/pix' };
  const ref = String((await acme.post(hook)).body['ref']);
  const { secret } = (await acme.rotate(ref)).body;
  await acme.putPolicy(ref, { headers: { 'X-Key': 'a value' } });
  const shown = (await acme.get(ref)).body;
  await before.stop();

  const SECRETS_KEYS_BOTH = `${NEW},${SECRETS_KEYS}`;
  const { MONGODB_URI = '' } = before.env;
  const env = { MONGODB_URI, SECRETS_KEYS: SECRETS_KEYS_BOTH };
  // With a key too few it says which webhook it needs it for, and changes nothing.
  expect(await run('rotate-keys', [], { MONGODB_URI, SECRETS_KEYS: NEW })).toEqual({
    code: 2,
    out: `the sealed secret of ${configurationKey(tenantId, ref)} names a version or a key that this service does not have\n`,
  });
  const dry = { code: 0, out: '1 webhooks: 1 to be sealed anew\n' };
  expect(await run('rotate-keys', ['--dry-run'], env)).toEqual(dry);
  expect(await run('rotate-keys', [], env)).toEqual({ code: 0, out: '1 webhooks: 1 sealed anew\n' });
  expect(await run('rotate-keys', [], env)).toEqual({ code: 0, out: '1 webhooks: 0 sealed anew\n' });

  const after = await startConfigApi({ MONGODB_URI, SECRETS_KEYS: NEW });
  const { secrets, policy, updatedAt } = await topic.recordOf(tenantId, ref, 4);
  const owner = configurationKey(tenantId, ref);
  const [{ sealed = '' } = {}] = secrets as readonly { sealed?: string }[];
  expect(openSecret(ONLY_NEW, sealed, owner)).toBe(secret);
  const { sealed: headers = '' } = policy as { sealed?: string };
  expect(keyIdOf(headers)).toBe('k2');
  expect(openPolicySecrets(ONLY_NEW, headers, owner)).toEqual({ headers: { 'X-Key': 'a value' } });
  expect(updatedAt).toBe(shown['updatedAt']);
  await Promise.all([after.stop(), topic.close()]);
}, 120_000);
