import { randomUUID } from 'node:crypto';
import type { Caller } from '../support/caller.js';
import { openConfigurationTopic } from '../support/configuration-topic.js';
import type { ConfigurationTopic } from '../support/configuration-topic.js';
import { makeTopics, startConfigApi } from '../support/start-config-api.js';
import type { RunningConfigApi } from '../support/start-config-api.js';

let api: RunningConfigApi;
let acme: Caller;
let topic: ConfigurationTopic;

beforeAll(async () => {
  await makeTopics();
  api = await startConfigApi();
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
const MOVED = 'https://hooks.acme.com.br/moved';

async function register(fields: object = {}): Promise<{ ref: string; body: Record<string, unknown> }> {
  const { status, body } = await acme.post({ ...HOOK, ...fields });
  expect(status).toBe(200);
  return { ref: String(body['ref']), body };
}

describe('an update that names the ref', () => {
  it('replaces URL and event type, keeps what was left out, and leaves ref and createdAt', async () => {
    const { ref, body } = await register({ applicationId: 'checkout', enabled: false });
    const answer = await acme.put({ ref, eventType: 'PIX_STATIC', endpointUrl: MOVED });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      ...body,
      eventType: 'PIX_STATIC',
      endpointUrl: MOVED,
      previousEndpointUrl: HOOK.endpointUrl,
      updatedAt: answer.body['updatedAt'],
    });
    expect(String(answer.body['updatedAt']) >= String(body['updatedAt'])).toBe(true);
    const { previousEndpointUrl: _, ...stored } = answer.body;
    expect((await acme.get(ref)).body).toEqual(stored);
  });

  it('clears the application with null', async () => {
    const { ref } = await register({ applicationId: 'shop' });
    const answer = await acme.put({ ...HOOK, ref: ref.toUpperCase(), applicationId: null });
    expect(answer.body['ref']).toBe(ref);
    expect(answer.body).not.toHaveProperty('applicationId');
    expect((await acme.get(ref)).body).toEqual(answer.body);
  });

  it('replaces application and state when they are given', async () => {
    const { ref } = await register({ applicationId: 'checkout' });
    const answer = await acme.put({ ...HOOK, ref, applicationId: 'shop', enabled: false });
    expect(answer.body).toMatchObject({ applicationId: 'shop', enabled: false });
  });

  it('does not re-enable by accident', async () => {
    const { ref } = await register({ enabled: false });
    expect((await acme.put({ ...HOOK, ref, endpointUrl: MOVED })).body['enabled']).toBe(false);
  });

  it('is refused in the same words when the ref is unknown or of another tenant', async () => {
    const { ref } = await register();
    const beta = await api.tenant();
    const foreign = await beta.put({ ...HOOK, ref, enabled: false });
    const unknown = await beta.put({ ...HOOK, ref: randomUUID(), enabled: false });
    const { correlationId: _a, ...first } = foreign.body;
    const { correlationId: _b, ...second } = unknown.body;
    expect(foreign.status).toBe(422);
    expect(first).toMatchObject({ code: 'webhook-not-registered' });
    expect(first).toEqual(second);
    expect((await acme.get(ref)).body['enabled']).toBe(true);
    const { body } = await acme.put({ ...HOOK, ref: randomUUID() });
    expect(body['detail']).toBe('no webhook has this ref; candidates lists similar webhooks');
    expect(body['candidates']).toEqual([{ ref, endpointUrl: HOOK.endpointUrl }]);
  });

  it('is refused when another configuration has that triple, which is named', async () => {
    const holder = await register({ endpointUrl: MOVED });
    const { ref, body } = await register();
    const answer = await acme.put({ ...HOOK, ref, endpointUrl: 'https://HOOKS.acme.com.br/moved' });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ code: 'webhook-already-registered', ref: holder.ref });
    expect((await acme.get(ref)).body).toEqual(body);
  });

  it('may take the triple that another configuration has left', async () => {
    const first = await register();
    await acme.put({ ...HOOK, ref: first.ref, endpointUrl: MOVED });
    const second = await register();
    expect(second.ref).not.toBe(first.ref);
    const { ref } = await register({ eventType: 'PIX_STATIC' });
    expect((await acme.put({ ...HOOK, ref })).body['code']).toBe('webhook-already-registered');
  });
});

describe('an update without ref', () => {
  it('finds the configuration with the same application, event type and URL', async () => {
    const { ref } = await register();
    await register({ endpointUrl: MOVED });
    const answer = await acme.put({ ...HOOK, enabled: false });
    expect(answer.body).toMatchObject({ ref, enabled: false });
  });

  it('finds the only one of the application for the event type, and moves it', async () => {
    await register();
    await register({ applicationId: 'shop', eventType: 'PIX_STATIC' });
    const { ref } = await register({ applicationId: 'shop' });
    const answer = await acme.put({ ...HOOK, applicationId: 'shop', endpointUrl: MOVED });
    expect(answer.body).toMatchObject({
      ref,
      endpointUrl: MOVED,
      previousEndpointUrl: HOOK.endpointUrl,
      applicationId: 'shop',
      enabled: true,
    });
  });

  it('takes a left-out application for none', async () => {
    const { ref } = await register();
    await register({ applicationId: 'shop' });
    expect((await acme.put({ ...HOOK, endpointUrl: MOVED })).body['ref']).toBe(ref);
  });

  it('is refused when nothing matches', async () => {
    await register({ applicationId: 'shop' });
    const answer = await acme.put({ ...HOOK, endpointUrl: MOVED });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ code: 'webhook-not-registered', candidates: [] });
    expect(answer.body['detail']).toMatch(/these values; register it with POST$/);
  });

  it.each([true, false])('names another application with that URL when enabled is %s', async (enabled) => {
    const { ref } = await register({ applicationId: 'shop' });
    const { body } = await acme.put({ ...HOOK, enabled });
    expect(body['detail']).toMatch(/these values; candidates lists similar webhooks$/);
    expect(body['candidates']).toEqual([{ ref, endpointUrl: HOOK.endpointUrl, applicationId: 'shop' }]);
  });

  it('never disables another webhook: a typo in its URL is refused, and names what may have been meant', async () => {
    const { ref, body } = await register();
    const answer = await acme.put({ ...HOOK, endpointUrl: MOVED, enabled: false });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      code: 'webhook-not-registered',
      candidates: [{ ref, endpointUrl: HOOK.endpointUrl }],
    });
    expect((await acme.get(ref)).body).toEqual(body);
  });

  it('is refused when several match, and lists them', async () => {
    const first = await register();
    const second = await register({ endpointUrl: MOVED });
    const answer = await acme.put({ ...HOOK, endpointUrl: 'https://hook.acme.com.br/third' });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      code: 'webhook-ambiguous',
      candidates: [
        { ref: first.ref, endpointUrl: HOOK.endpointUrl },
        { ref: second.ref, endpointUrl: MOVED },
      ],
    });
  });
});

describe('revisions', () => {
  it('rise with each change, and each is on the topic before its response', async () => {
    const { ref } = await register();
    await acme.put({ ...HOOK, ref, enabled: false });
    const { body } = await acme.put({ ...HOOK, ref, endpointUrl: MOVED });
    await topic.recordOf(acme.tenantId, ref, 3);
    const records = topic.recordsOf(acme.tenantId, ref);
    expect(records.map(({ revision }) => revision)).toEqual([1, 2, 3]);
    const { previousEndpointUrl: _p, hasSecret: _h, ...known } = body;
    expect(records.at(-1)).toEqual({ v: 1, tenantId: acme.tenantId, revision: 3, ...known });
  });

  // A write that was answered with 500 may still reach the database: it must not undo what was answered with 200 after it.
  it('rise even when the values are the same, so that an older write fails', async () => {
    const { ref, body } = await register();
    const answer = await acme.put({ ...HOOK, ref, enabled: true });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ ...body, updatedAt: answer.body['updatedAt'] });
    await topic.recordOf(acme.tenantId, ref, 2);
  });

  it('count another spelling of the URL as a change, because it is shown as it was typed', async () => {
    const { ref } = await register();
    const typed = 'https://Hook.acme.com.br/pix';
    expect((await acme.put({ ...HOOK, ref, endpointUrl: typed })).body['endpointUrl']).toBe(typed);
    expect(await topic.recordOf(acme.tenantId, ref, 2)).toMatchObject({ endpointUrl: typed });
  });
});

describe('many changes at once', () => {
  it('lose none: twenty updates of one configuration give twenty revisions and one last state', async () => {
    const { ref } = await register();
    // Each waits for those before it: beside a busy core fifty do not end within the 5 s of a request.
    const urls = Array.from({ length: 20 }, (_, index) => `https://hook.acme.com.br/${index}`);
    const answers = await Promise.all(urls.map((endpointUrl) => acme.put({ ...HOOK, ref, endpointUrl })));
    expect(answers.map(({ status }) => status)).toEqual(urls.map(() => 200));
    const last = await topic.recordOf(acme.tenantId, ref, 21);
    expect((await acme.get(ref)).body['endpointUrl']).toBe(last['endpointUrl']);
    expect(
      topic
        .recordsOf(acme.tenantId, ref)
        .map(({ revision }) => revision)
        .sort(),
    ).toHaveLength(21);
  });

  it('keep the rules when registrations and updates want one triple', async () => {
    const { ref } = await register({ endpointUrl: MOVED });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        index % 2 === 0 ? acme.post(HOOK) : acme.put({ ...HOOK, ref }),
      ),
    );
    expect(answers.every(({ status }) => status === 200 || status === 422)).toBe(true);
    const { body } = await acme.list();
    const data = Array.isArray(body['data']) ? (body['data'] as Record<string, unknown>[]) : [];
    expect(data.filter(({ endpointUrl }) => endpointUrl === HOOK.endpointUrl)).toHaveLength(1);
    expect(data.length).toBeLessThanOrEqual(2);
  });
});
