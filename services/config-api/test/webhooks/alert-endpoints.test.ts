import { randomUUID } from 'node:crypto';
import { createCaller, reasonsOf } from '../support/caller.js';
import type { Answer, Caller } from '../support/caller.js';
import { openConfigurationTopic } from '../support/configuration-topic.js';
import type { ConfigurationTopic } from '../support/configuration-topic.js';
import { makeTopics, startConfigApi } from '../support/start-config-api.js';
import type { RunningConfigApi } from '../support/start-config-api.js';

let api: RunningConfigApi;
let acme: Caller;
let topic: ConfigurationTopic;

beforeAll(async () => {
  await makeTopics();
  api = await startConfigApi({ MAX_WEBHOOKS_PER_TENANT: '12' });
  topic = openConfigurationTopic();
});
beforeEach(async () => {
  acme = await api.tenant();
});
afterAll(async () => {
  await topic.close();
  await api.stop();
});

const ALERTED = { endpointUrl: 'https://hooks.acme.com.br/alerts' } as const;
const HOOK = { eventType: 'PIX_OUT', endpointUrl: ALERTED.endpointUrl } as const;
const nth = (index: number) => ({ endpointUrl: `${ALERTED.endpointUrl}/${index}` });
const refOf = ({ body }: Answer): string => String(body['ref']);
const refs = async (): Promise<unknown[]> =>
  ((await acme.listAlerts()).body['data'] as readonly { ref: unknown }[]).map(({ ref }) => ref);

describe('an alert endpoint', () => {
  it('is registered with the format event and Portuguese, and is on the topic before its response', async () => {
    const { status, body } = await acme.postAlert(ALERTED);
    expect([status, body]).toEqual([
      200,
      {
        ...{ ...ALERTED, ref: body['ref'], format: 'event', language: 'pt-BR', hasSecret: false },
        ...{ createdAt: body['createdAt'], updatedAt: body['createdAt'] },
      },
    ]);
    expect(await topic.recordOf(acme.tenantId, refOf({ body } as Answer), 1)).toMatchObject({
      ...{ eventType: 'ENDPOINT_ALERT', enabled: true, alert: { format: 'event', language: 'pt-BR' } },
    });
    expect((await acme.listAlerts()).body).toEqual({ data: [body], results: 1 });
  });

  it('is no webhook: it is in no list, has no place among them, and PUT does not change it', async () => {
    const ref = refOf(await acme.postAlert(ALERTED));
    expect((await acme.post(HOOK)).status).toBe(200);
    expect((await acme.list()).body['results']).toBe(1);
    expect((await acme.list({ ref })).body['results']).toBe(0);
    expect((await acme.get(ref)).status).toBe(404);
    expect((await acme.put({ ...HOOK, ref })).body['code']).toBe('webhook-not-registered');
    expect((await acme.post({ ...HOOK, ref })).body['code']).toBe('webhook-already-registered');
    expect((await acme.post({ ...HOOK, eventType: 'ENDPOINT_ALERT' })).status).toBe(422);
    expect(await refs()).toEqual([ref]);
  });

  it('is registered once by equal requests at the same time, and not with other values', async () => {
    const given = { ...ALERTED, ref: randomUUID().toUpperCase(), format: 'text', language: 'en' };
    const answers = await Promise.all(Array.from({ length: 10 }, () => acme.postAlert(given)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const other = await acme.postAlert(ALERTED);
    expect([other.status, other.body['code'], other.body['ref']]).toEqual([
      ...[422, 'webhook-already-registered', given.ref.toLowerCase()],
    ]);
    expect(reasonsOf(other)).toEqual([
      'format is "text" in the registered alert endpoint',
      'language is "en" in the registered alert endpoint',
    ]);
  });

  it.each<[string, object]>([
    ['another format', { ...ALERTED, format: 'xml' }],
    ['another language', { ...ALERTED, language: 'pt' }],
    ['an event type', { ...ALERTED, eventType: 'PIX_OUT' }],
    ['a URL that is not public', { endpointUrl: 'https://10.0.0.1/' }],
    ['no URL', {}],
  ])('is refused with %s', async (_, body) => {
    expect((await acme.postAlert(body)).status).toBe(422);
    expect(await refs()).toEqual([]);
  });

  it('has a secret and a policy like a webhook, but no format of Banco Central', async () => {
    const ref = refOf(await acme.postAlert(ALERTED));
    expect((await acme.rotate(ref)).status).toBe(200);
    expect((await acme.putPolicy(ref, { timeoutMs: 1_000 })).body).toEqual({ timeoutMs: 1_000 });
    expect((await acme.putPolicy(ref, { format: 'bacen' })).status).toBe(422);
    expect((await acme.policy(ref)).body).toEqual({ timeoutMs: 1_000 });
    expect((await acme.listAlerts()).body['data']).toMatchObject([{ ref, hasSecret: true }]);
    expect((await acme.remove(ref)).status).toBe(204);
  });

  it('of another tenant is like an unknown one', async () => {
    const ref = refOf(await acme.postAlert(ALERTED));
    const beta = await api.tenant();
    expect((await beta.endAlert(ref)).status).toBe(404);
    expect((await beta.rotate(ref)).status).toBe(404);
    expect((await beta.listAlerts()).body['results']).toBe(0);
    expect(await refs()).toEqual([ref]);
  });
});

describe('an alert endpoint that ends', () => {
  it('is disabled on the topic without its secret, and is found nowhere, however often it is ended', async () => {
    const ref = refOf(await acme.postAlert(ALERTED));
    await acme.rotate(ref);
    expect((await acme.endAlert(ref)).status).toBe(204);
    const record = await topic.recordOf(acme.tenantId, ref, 3);
    expect([record['enabled'], record['secrets']]).toEqual([false, undefined]);
    expect(await refs()).toEqual([]);
    const answers = [await acme.rotate(ref), await acme.policy(ref), await acme.removePolicy(ref)];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect((await acme.endAlert(ref)).status).toBe(204);
  });

  it('leaves its URL and its place to another one, and keeps its ref', async () => {
    const ref = refOf(await acme.postAlert(ALERTED));
    await acme.endAlert(ref);
    const { body } = await acme.postAlert({ ...ALERTED, ref });
    expect(body).toMatchObject({
      code: 'webhook-already-registered',
      detail: expect.stringMatching(/register another one under another ref$/) as string,
    });
    const next = refOf(await acme.postAlert(ALERTED));
    expect(next).not.toBe(ref);
    expect(await refs()).toEqual([next]);
  });

  it('is no webhook', async () => {
    const ref = refOf(await acme.post(HOOK));
    expect((await acme.endAlert(ref)).status).toBe(404);
    expect((await acme.get(ref)).body['enabled']).toBe(true);
  });
});

describe('the limits of a tenant', () => {
  it('are ten alert endpoints, also across two instances, and a number of registrations', async () => {
    const other = await startConfigApi(api.env);
    const twin = createCaller(other.url, acme.tenantId, `Bearer ${await api.desk.tokenOf(acme.tenantId)}`);
    for (let index = 0; index < 8; index += 1) await acme.postAlert(nth(index));
    const answers = await Promise.all(
      [8, 9, 10, 11].map((n) => (n % 2 === 0 ? acme : twin).postAlert(nth(n))),
    );
    await other.stop();
    expect(answers.map(({ status, body }) => [status, body['code']].join(' ')).sort()).toEqual([
      ...['200 ', '200 ', '422 limit-reached', '422 limit-reached'],
    ]);
    expect(await refs()).toHaveLength(10);
    for (const index of [20, 21]) {
      expect((await acme.endAlert(String((await refs())[0]))).status).toBe(204);
      expect((await acme.postAlert(nth(index))).status).toBe(200);
    }
    await acme.endAlert(String((await refs())[0]));
    const { body } = await acme.postAlert(nth(22));
    expect(body['detail']).toBe('a tenant can have at most 12 alert endpoints, ended ones included');
    expect((await acme.post(HOOK)).status).toBe(200);
  });
});
