import { randomUUID } from 'node:crypto';
import { createCaller } from '../support/caller.js';
import type { Caller } from '../support/caller.js';
import { openConfigurationTopic } from '../support/configuration-topic.js';
import { issuePair } from '../support/issue-pair.js';
import { makeTopics, startConfigApi } from '../support/start-config-api.js';
import type { RunningConfigApi } from '../support/start-config-api.js';

let api: RunningConfigApi;
let acme: Caller;
let ref: string;

const HOOK = { eventType: 'PIX_OUT', endpointUrl: 'https://hook.acme.com.br/pix?key=s3cret' } as const;

beforeAll(async () => {
  await makeTopics();
  api = await startConfigApi();
});
beforeEach(async () => {
  acme = await api.tenant();
  ref = String((await acme.post(HOOK)).body['ref']);
});
afterAll(() => api.stop());

interface Entry {
  readonly action: string;
  readonly revision: number;
  readonly fields: readonly unknown[];
}
const entries = async (): Promise<readonly Entry[]> =>
  (await acme.changes(ref)).body['data'] as readonly Entry[];
const newest = async () => (await entries())[0];
const update = (over: object) => acme.put({ ...HOOK, ref, ...over });

describe('the changes of a webhook', () => {
  it('begin with its registration, and say who made it', async () => {
    const { body } = await acme.changes(ref);
    const { createdAt } = (await acme.get(ref)).body;
    expect(body).toEqual({
      data: [
        {
          ...{ at: createdAt, action: 'register', client: `client of ${acme.tenantId}`, revision: 1 },
          fields: [
            { field: 'eventType', to: 'PIX_OUT' },
            { field: 'endpointUrl', to: 'hook.acme.com.br/pix' },
            { field: 'enabled', to: true },
          ],
        },
      ],
      results: 1,
    });
  });

  it('have the person for whom a client acts, by an opaque id', async () => {
    const token = await api.desk.tokenOf(acme.tenantId, 'webhook.write', { sub: 'person-4711' });
    const person = createCaller(api.url, acme.tenantId, `Bearer ${token}`);
    await person.put({ ...HOOK, ref, enabled: false });
    expect(await newest()).toMatchObject({ action: 'update', person: 'person-4711', revision: 2 });
  });

  it('have from and to of each field, the newest first', async () => {
    await update({ applicationId: 'checkout', enabled: false });
    await update({ applicationId: null, endpointUrl: 'https://hook.acme.com.br/pix?key=0ther' });
    expect((await entries()).map(({ revision, fields }) => [revision, fields]).slice(0, 2)).toEqual([
      [
        3,
        [
          { field: 'endpointUrl', from: 'hook.acme.com.br/pix', to: 'hook.acme.com.br/pix' },
          { field: 'applicationId', from: 'checkout' },
        ],
      ],
      [
        2,
        [
          { field: 'applicationId', to: 'checkout' },
          { field: 'enabled', from: true, to: false },
        ],
      ],
    ]);
  });

  it('name a secret, headers and a client certificate, and have nothing of their values', async () => {
    const secret = `whsec_${Buffer.alloc(32, 'w').toString('base64')}`;
    await acme.rotate(ref, { secret });
    expect(await newest()).toMatchObject({
      action: 'rotate-secret',
      fields: [{ field: 'secret', to: 'created' }],
    });
    await acme.rotate(ref);
    expect((await newest())?.fields).toEqual([{ field: 'secret', to: 'rotated' }]);
    await acme.remove(ref);
    expect((await newest())?.fields).toEqual([{ field: 'secret', to: 'removed' }]);

    const headers = { Authorization: 'Bearer 3b1f0c52d1a94c9f', 'X-Client': 'acme' };
    await acme.putPolicy(ref, { timeoutMs: 2_000, headers, clientCertificate: await issuePair() });
    expect((await newest())?.fields).toEqual([
      { field: 'timeoutMs', to: 2_000 },
      { field: 'clientCertificate', to: 'set' },
      { field: 'headers.Authorization', to: 'set' },
      { field: 'headers.X-Client', to: 'set' },
    ]);
    await acme.putPolicy(ref, {
      retryDelays: ['1s'],
      headers: { Authorization: 'Bearer x', 'X-Client': null },
    });
    expect((await newest())?.fields).toEqual([
      { field: 'timeoutMs', from: 2_000 },
      { field: 'headers.Authorization', to: 'set' },
      { field: 'headers.X-Client', to: 'removed' },
      { field: 'retryDelays', to: ['1s'] },
    ]);
    await acme.removePolicy(ref);
    const { text } = await acme.changes(ref);
    for (const value of [secret, '3b1f0c52d1a94c9f', 'PRIVATE KEY', 'sealed', 's3cret'])
      expect(text).not.toContain(value);
  });

  it('have no entry for a request that changes nothing', async () => {
    const secret = `whsec_${Buffer.alloc(32, 'w').toString('base64')}`;
    await acme.rotate(ref, { secret });
    await acme.putPolicy(ref, { headers: { 'X-Client': 'acme' } });
    const before = await entries();
    await acme.rotate(ref, { secret });
    await acme.putPolicy(ref, { headers: { 'X-Client': 'acme' } });
    await acme.post(HOOK);
    await update({});
    expect(await entries()).toEqual(before);
  });

  it('are the last twenty, of concurrent requests too', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, index) => update({ applicationId: `a${index}` })));
    for (let index = 0; index < 15; index += 1) await update({ enabled: index % 2 === 0 ? false : true });
    const revisions = (await entries()).map(({ revision }) => revision);
    expect(revisions).toEqual(Array.from({ length: 20 }, (_, index) => 24 - index));
  });

  it('are in no other response and not on the topic', async () => {
    const topic = openConfigurationTopic();
    await update({ enabled: false });
    const record = await topic.recordOf(acme.tenantId, ref, 2);
    await topic.close();
    const shown = [record, (await acme.get(ref)).body, (await acme.list()).body, (await update({})).body];
    expect(JSON.stringify(shown)).not.toContain('changes');
    expect((await entries()).map(({ action }) => action)).toEqual(['update', 'register']);
  });

  it('of another tenant are like those of an unknown webhook', async () => {
    expect((await (await api.tenant()).changes(ref)).status).toBe(404);
    expect((await acme.changes(randomUUID())).status).toBe(404);
  });

  it('are there for an alert endpoint, also when it has ended', async () => {
    const { body } = await acme.postAlert({
      endpointUrl: 'https://hooks.acme.com.br/alerts',
      language: 'en',
    });
    ref = String(body['ref']);
    expect(await newest()).toMatchObject({
      action: 'register',
      fields: [
        { to: 'ENDPOINT_ALERT' },
        { to: 'hooks.acme.com.br/alerts' },
        {},
        { to: 'event' },
        { to: 'en' },
      ],
    });
    await acme.endAlert(ref);
    expect(await newest()).toMatchObject({ action: 'end' });
  });
});
