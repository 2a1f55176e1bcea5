import { randomUUID } from 'node:crypto';
import { eventually } from '@webhooks/testkit';
import { createCaller } from '../support/caller.js';
import type { Caller } from '../support/caller.js';
import { makeTopics, startConfigApi } from '../support/start-config-api.js';
import type { RunningConfigApi } from '../support/start-config-api.js';
import { openConfigurationTopic } from '../support/configuration-topic.js';
import type { ConfigurationTopic } from '../support/configuration-topic.js';

let api: RunningConfigApi;
let acme: Caller;
let topic: ConfigurationTopic;

beforeAll(async () => {
  await makeTopics();
  api = await startConfigApi({ MAX_WEBHOOKS_PER_TENANT: '5' });
  topic = openConfigurationTopic();
});
beforeEach(async () => {
  acme = await api.tenant();
});
afterAll(async () => {
  await topic.close();
  await api.stop();
});

const HOOK = { eventType: 'PIX_OUT', endpointUrl: 'https://hook.acme.com.br/pix' } as const;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const refs = async (): Promise<unknown[]> => {
  const { body } = await acme.list();
  return Array.isArray(body['data']) ? body['data'].map((element: { ref: unknown }) => element.ref) : [];
};

describe('a first registration', () => {
  it('gets the configuration: enabled, with a UUIDv7 as ref and times in UTC', async () => {
    const { status, body } = await acme.post(HOOK);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...HOOK,
      enabled: true,
      hasSecret: false,
      ref: expect.stringMatching(UUID) as unknown,
      createdAt: expect.stringMatching(TIME) as unknown,
      updatedAt: body['createdAt'],
    });
  });

  it('takes a ref in any letter case and shows it in lower case', async () => {
    const ref = randomUUID();
    const given = { ...HOOK, ref: ref.toUpperCase(), applicationId: null };
    const { body } = await acme.post(given);
    expect(body['ref']).toBe(ref);
    expect(body).not.toHaveProperty('applicationId');
    expect((await acme.post(given)).body).toEqual(body);
    expect((await acme.get(given.ref)).body).toEqual(body);
  });

  it('has one webhook for both spellings of an application in Unicode, which is found by either', async () => {
    const [composed, decomposed] = ['S\u00e3o Paulo', 'Sa\u0303o Paulo'];
    const first = await acme.post({ ...HOOK, applicationId: decomposed });
    expect(first.body['applicationId']).toBe(composed);
    const second = await acme.post({ ...HOOK, applicationId: composed });
    expect([second.status, second.body['ref']]).toEqual([200, first.body['ref']]);
    for (const applicationId of [composed, decomposed])
      expect((await acme.list({ applicationId })).body['results']).toBe(1);
  });

  it('keeps every field that was given', async () => {
    const given = { ...HOOK, ref: randomUUID(), applicationId: 'checkout é 🛒', enabled: false };
    const { status, body } = await acme.post(given);
    expect(status).toBe(200);
    expect(body).toMatchObject(given);
    expect((await acme.get(given.ref)).body).toEqual(body);
  });

  it('is on the compacted topic before its response, with revision 1', async () => {
    const { body } = await acme.post({ ...HOOK, applicationId: 'a' });
    const record = await topic.recordOf(acme.tenantId, String(body['ref']), 1);
    const { hasSecret: _, ...known } = body;
    expect(record).toEqual({ v: 1, tenantId: acme.tenantId, revision: 1, ...known });
  });

  it('allows several endpoints and several applications for one event type', async () => {
    const answers = [
      await acme.post(HOOK),
      await acme.post({ ...HOOK, endpointUrl: 'https://hook.acme.com.br/other' }),
      await acme.post({ ...HOOK, applicationId: 'a' }),
      await acme.post({ ...HOOK, eventType: 'PIX_STATIC' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(await refs()).size).toBe(4);
  });

  it('takes a ref that another tenant has too', async () => {
    const beta = await api.tenant();
    const given = { ...HOOK, ref: randomUUID() };
    expect((await acme.post(given)).status).toBe(200);
    expect((await beta.post({ ...given, eventType: 'PIX_STATIC' })).status).toBe(200);
    expect((await acme.get(given.ref)).body['eventType']).toBe('PIX_OUT');
  });
});

describe('a repeated registration', () => {
  const ref = randomUUID();
  const given = { ...HOOK, ref, applicationId: 'checkout', enabled: false };

  it.each([
    ['the same body', given],
    ['the same ref without what may be left out', { ...HOOK, ref }],
    ['the same triple without ref', { ...HOOK, applicationId: 'checkout' }],
    [
      'another spelling of the URL',
      { ...HOOK, applicationId: 'checkout', endpointUrl: 'HTTPS://Hook.ACME.com.br:443/pix' },
    ],
  ])('is safe with %s: the stored configuration comes back', async (_name, repeat) => {
    const first = await acme.post(given);
    const second = await acme.post(repeat);
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(await refs()).toEqual([ref]);
  });

  it.each([
    ['the same ref and another URL', { ...given, endpointUrl: 'https://hook.acme.com.br/2' }],
    ['the same ref and another event type', { ...given, eventType: 'PIX_STATIC' }],
    ['the same ref and another application', { ...given, applicationId: 'other' }],
    ['the same ref and another state', { ...given, enabled: true }],
    ['the same triple and another ref', { ...given, ref: randomUUID() }],
    ['the same triple and another state', { ...HOOK, applicationId: 'checkout', enabled: true }],
  ])('is a conflict with %s: the ref is named and nothing changes', async (_name, conflicting) => {
    const first = await acme.post(given);
    const { status, body } = await acme.post(conflicting);
    expect(status).toBe(422);
    expect(body).toMatchObject({ code: 'webhook-already-registered', ref });
    expect((await acme.get(ref)).body).toEqual(first.body);
    expect(await refs()).toEqual([ref]);
  });

  it('is a conflict when ref and triple belong to two configurations', async () => {
    await acme.post(given);
    const other = await acme.post({ ...HOOK, eventType: 'PIX_STATIC' });
    const { status, body } = await acme.post({ ...HOOK, eventType: 'PIX_STATIC', ref });
    expect(status).toBe(422);
    expect(body).toMatchObject({ code: 'webhook-already-registered', ref });
    expect(await refs()).toEqual([ref, other.body['ref']]);
  });

  it('finds a configuration that an update has moved by its new values, and not by its old ones', async () => {
    await acme.post(given);
    await acme.put({ ...HOOK, ref, endpointUrl: 'https://hook.acme.com.br/moved' });
    const moved = { ...HOOK, endpointUrl: 'https://hook.acme.com.br/moved', applicationId: 'checkout' };
    expect((await acme.post(moved)).body['ref']).toBe(ref);
    expect((await acme.post({ ...HOOK, applicationId: 'checkout' })).body['ref']).not.toBe(ref);
  });
});

describe('many registrations at once', () => {
  it('leave one row when all fifty are the same, and every caller gets it', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => acme.post(HOOK)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await refs()).toHaveLength(1);
  });

  it('leave one row across two instances of the service', async () => {
    const other = await startConfigApi(api.env);
    const twin = createCaller(other.url, acme.tenantId, `Bearer ${await api.desk.tokenOf(acme.tenantId)}`);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? acme : twin).post(HOOK)),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${String(body['ref'])}`)).size).toBe(1);
    expect(await refs()).toHaveLength(1);
    const different = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? acme : twin).post({ ...HOOK, endpointUrl: `https://hook.acme.com.br/${index}` }),
      ),
    );
    expect(different.filter(({ status }) => status === 200)).toHaveLength(4);
    expect(await refs()).toHaveLength(5);
    await other.stop();
  });

  it('never exceed the limit of the tenant, whose configurations can still be repeated and changed', async () => {
    const url = (index: number) => ({ ...HOOK, endpointUrl: `https://hook.acme.com.br/${index}` });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => acme.post(url(index))));
    const refused = answers.filter(({ status }) => status === 422);
    expect(refused.map(({ body }) => body['code'])).toEqual(
      Array.from({ length: 15 }, () => 'limit-reached'),
    );
    expect(await refs()).toHaveLength(5);
    const kept = answers.find(({ status }) => status === 200);
    const { endpointUrl, ref } = kept?.body ?? {};
    expect((await acme.post({ ...HOOK, endpointUrl })).status).toBe(200);
    expect((await acme.put({ ...HOOK, endpointUrl, ref, enabled: false })).status).toBe(200);
    expect((await (await api.tenant()).post(HOOK)).status).toBe(200);
  });
});

describe('the audit trail', () => {
  it('has one line for each registration, repeat and update, with who, what and the changed fields, and no URL', async () => {
    const { body, headers } = await acme.post(HOOK);
    await acme.post(HOOK);
    await acme.put(HOOK);
    await acme.put({ ...HOOK, enabled: false });
    const lines = await eventually(() => {
      const found = api.lines.filter(
        ({ message, fields }) => message === 'audit' && fields['ref'] === body['ref'],
      );
      expect(found).toHaveLength(4);
      return found;
    });
    expect(lines[0]?.fields).toEqual({
      action: 'register',
      requestId: headers.get('x-request-id'),
      clientId: `client of ${acme.tenantId}`,
      tenantId: acme.tenantId,
      ref: body['ref'],
      revision: 1,
      changed: true,
      fields: ['eventType', 'endpointUrl', 'enabled'],
    });
    expect(lines[1]?.fields).toMatchObject({ revision: 1, changed: false, fields: [] });
    expect(lines[2]?.fields).toMatchObject({ revision: 2, changed: false, fields: [] });
    expect(lines[3]?.fields).toMatchObject({ revision: 3, changed: true, fields: ['enabled'] });
    expect(JSON.stringify(lines)).not.toContain('hook.acme');
  });
});
