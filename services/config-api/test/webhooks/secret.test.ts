import { configurationKey, openSecret, parseKeyring } from '@webhooks/contracts';
import { parseSecret } from '@webhooks/outbound';
import type { Caller } from '../support/caller.js';
import { openConfigurationTopic } from '../support/configuration-topic.js';
import type { ConfigurationTopic, SeenConfiguration } from '../support/configuration-topic.js';
import { SECRETS_KEYS, makeTopics, startConfigApi } from '../support/start-config-api.js';
import type { RunningConfigApi } from '../support/start-config-api.js';

let api: RunningConfigApi;
let acme: Caller;
let topic: ConfigurationTopic;
let ref: string;

beforeAll(async () => {
  await makeTopics();
  api = await startConfigApi();
  topic = openConfigurationTopic();
});
beforeEach(async () => {
  acme = await api.tenant();
  const { body } = await acme.post({ eventType: 'PIX_OUT', endpointUrl: 'https://hook.acme.com.br/pix' });
  ref = String(body['ref']);
});
afterAll(async () => {
  await topic.close();
  await api.stop();
});

const DAY_MS = 86_400_000;

interface Sealed {
  readonly sealed: string;
  readonly expiresAt?: string;
}
const sealedOf = (record: SeenConfiguration): readonly Sealed[] =>
  Array.isArray(record['secrets']) ? (record['secrets'] as Sealed[]) : [];
const open = ({ sealed }: Sealed): string =>
  openSecret(parseKeyring(SECRETS_KEYS), sealed, configurationKey(acme.tenantId, ref));

describe('a signing secret', () => {
  it('is shown once, in the form of Standard Webhooks, and goes to the workers encrypted', async () => {
    const { status, body, headers } = await acme.rotate(ref);
    expect(status).toBe(200);
    expect(body).toEqual({ ref, secret: body['secret'] });
    expect(parseSecret(body['secret'])).toMatchObject({ ok: true });
    expect(headers.get('cache-control')).toBe('no-store');
    const record = await topic.recordOf(acme.tenantId, ref, 2);
    expect(sealedOf(record).map(open)).toEqual([body['secret']]);
    expect((await acme.get(ref)).body).toMatchObject({
      hasSecret: true,
      secretRotatedAt: record['updatedAt'],
    });
    const shown = JSON.stringify([record, (await acme.get(ref)).body, (await acme.list()).body, api.lines]);
    expect(shown).not.toContain(String(body['secret']).slice(6));
  });

  it('stays valid for 24 hours beside the next two, so that a rotation repeated after a lost response does not drop it', async () => {
    const first = await acme.rotate(ref);
    const before = Date.now();
    const second = await acme.rotate(ref);
    const until = Date.parse(String(second.body['previousValidUntil']));
    expect(until).toBeGreaterThanOrEqual(before + DAY_MS);
    expect(until).toBeLessThanOrEqual(Date.now() + DAY_MS);
    const record = await topic.recordOf(acme.tenantId, ref, 3);
    expect(sealedOf(record).map(open)).toEqual([second.body['secret'], first.body['secret']]);
    expect(sealedOf(record)[1]?.expiresAt).toBe(second.body['previousValidUntil']);
    const third = await acme.rotate(ref);
    const last = await topic.recordOf(acme.tenantId, ref, 4);
    expect(sealedOf(last).map(open)).toEqual([
      third.body['secret'],
      second.body['secret'],
      first.body['secret'],
    ]);
    // Its own 24 h, not new ones.
    expect(sealedOf(last)[2]?.expiresAt).toBe(sealedOf(record)[1]?.expiresAt);
    const fourth = await acme.rotate(ref);
    expect(sealedOf(await topic.recordOf(acme.tenantId, ref, 5)).map(open)).toEqual([
      fourth.body['secret'],
      third.body['secret'],
      second.body['secret'],
    ]);
  });

  it('ends the earlier ones at once after a leak', async () => {
    await acme.rotate(ref);
    const { body } = await acme.rotate(ref, { expirePrevious: true });
    expect(body).not.toHaveProperty('previousValidUntil');
    expect(sealedOf(await topic.recordOf(acme.tenantId, ref, 3)).map(open)).toEqual([body['secret']]);
    expect((await acme.rotate(ref, { expirePrevious: 1 })).status).toBe(422);
  });

  it('can be given by the caller, and ends no other when it is given again', async () => {
    const first = await acme.rotate(ref);
    const secret = `whsec_${Buffer.alloc(64, 'w').toString('base64')}`;
    const { body } = await acme.rotate(ref, { secret });
    expect(body).toEqual({ ref, secret, previousValidUntil: expect.any(String) as string });
    expect((await acme.rotate(ref, { secret })).body).toEqual(body);
    const record = await topic.recordOf(acme.tenantId, ref, 4);
    expect(sealedOf(record).map(open)).toEqual([secret, first.body['secret']]);
    await acme.rotate(ref, { secret: first.body['secret'] });
    const back = sealedOf(await topic.recordOf(acme.tenantId, ref, 5));
    expect(back.map(open)).toEqual([first.body['secret'], secret]);
    expect(back[0]).not.toHaveProperty('expiresAt');
    await acme.rotate(ref, { secret, expirePrevious: true });
    expect(sealedOf(await topic.recordOf(acme.tenantId, ref, 6)).map(open)).toEqual([secret]);
  });

  it.each([
    ['whsec_c2hvcnQ=', 'has 5 bytes, expected 24 to 64'],
    [`whsec_${Buffer.alloc(65).toString('base64')}`, 'has 65 bytes, expected 24 to 64'],
    ['whsec_no base64 at all', 'is not base64'],
    ['a password of a receiver', 'does not start with whsec_'],
  ])('%s is refused, and not repeated', async (secret, reason) => {
    const { status, body, text } = await acme.rotate(ref, { secret });
    expect([status, body['violations']]).toEqual([422, [{ property: 'secret', reason }]]);
    expect(text).not.toContain(secret.slice(6));
    expect(topic.recordsOf(acme.tenantId, ref).length).toBeLessThan(2);
  });

  it('survives an update of its configuration', async () => {
    const { body } = await acme.rotate(ref);
    await acme.put({ ref, eventType: 'PIX_STATIC', endpointUrl: 'https://hook.acme.com.br/pix' });
    const record = await topic.recordOf(acme.tenantId, ref, 3);
    expect(sealedOf(record).map(open)).toEqual([body['secret']]);
  });

  it('is removed, the previous one too, and removing it again is a revision of its own', async () => {
    await acme.rotate(ref);
    await acme.rotate(ref);
    expect((await acme.remove(ref)).status).toBe(204);
    const record = await topic.recordOf(acme.tenantId, ref, 4);
    expect(record['secrets']).toBeUndefined();
    expect((await acme.remove(ref)).status).toBe(204);
    await acme.rotate(ref);
    expect(sealedOf(await topic.recordOf(acme.tenantId, ref, 6))).toHaveLength(1);
  });

  it('is different each time, and each of many rotations at once gets a revision of its own', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => acme.rotate(ref)));
    expect(new Set(answers.map(({ body }) => body['secret'])).size).toBe(10);
    await topic.recordOf(acme.tenantId, ref, 11);
  });

  it('belongs to an existing configuration of the tenant: another tenant gets 404', async () => {
    const beta = await api.tenant();
    expect((await beta.rotate(ref)).status).toBe(404);
    expect((await beta.remove(ref)).status).toBe(404);
    expect((await acme.rotate('nonsense')).status).toBe(404);
    expect(topic.recordsOf(acme.tenantId, ref).map(({ revision }) => revision)).toEqual([1]);
  });

  it('leaves a line in the audit trail when it is made and when it is removed', async () => {
    await acme.rotate(ref);
    await acme.remove(ref);
    const actions = api.lines
      .filter(({ fields }) => fields['ref'] === ref)
      .map(({ fields }) => fields['action']);
    expect(actions).toEqual(['register', 'rotate-secret', 'remove-secret']);
  });
});
