import type { Answer, CallOptions, Caller } from './support/caller.js';
import { makeTopics, startConfigApi } from './support/start-config-api.js';
import type { RunningConfigApi } from './support/start-config-api.js';

let api: RunningConfigApi;
let acme: Caller;

beforeAll(async () => {
  await makeTopics();
  api = await startConfigApi();
});
beforeEach(async () => {
  acme = await api.tenant();
});
afterAll(() => api.stop());

const HOOK = { eventType: 'PIX_OUT', endpointUrl: 'https://hook.acme.com.br/pix' };
const text = JSON.stringify(HOOK);
const withField = (field: string): string => `${text.slice(0, -1)},${field}}`;

const violationsOf = ({ body }: Answer): unknown => body['violations'];

const refusals: readonly [string, unknown, string][] = [
  ['nothing', '', ''],
  ['no JSON', '{"eventType":', ''],
  ['two values', `${text}${text}`, ''],
  ['a comment', `/* */${text}`, ''],
  ['an array', `[${text}]`, ''],
  ['a text', '"x"', ''],
  ['null', 'null', ''],
  ['a number', '1e999', ''],
  ['bytes that are no UTF-8', Buffer.from([...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')]), ''],
  ['UTF-16', Buffer.from(text, 'utf16le'), ''],
  ['a repeated name', withField('"eventType":"PIX_STATIC"'), ''],
  ['a name repeated in escaped form', withField('"event\\u0054ype":"PIX_OUT"'), ''],
  ['a NUL character', withField('"applicationId":"a\\u0000"'), ''],
  ['a lone surrogate', withField('"applicationId":"\\ud800"'), ''],
  ['a NUL in a name', withField('"a\\u0000":1'), ''],
  ['nesting without end', '['.repeat(8_000), ''],
  ['deep nesting', withField(`"x":${'['.repeat(50)}${']'.repeat(50)}`), ''],
  ['__proto__', withField('"__proto__":{"enabled":false}'), '__proto__'],
  ['constructor', withField('"constructor":{}'), 'constructor'],
  ['a typing error in a name', withField('"enable":false'), 'enable'],
  ['no event type', '{"endpointUrl":"https://hook.acme.com.br/"}', 'eventType'],
  ['no URL', '{"eventType":"PIX_OUT"}', 'endpointUrl'],
  ['an unknown event type', { ...HOOK, eventType: 'PIX_IN' }, 'eventType'],
  ['an event type in lower case', { ...HOOK, eventType: 'pix_out' }, 'eventType'],
  ['a list of event types', { ...HOOK, eventType: ['PIX_OUT'] }, 'eventType'],
  ['an empty application', { ...HOOK, applicationId: '' }, 'applicationId'],
  ['a long application', { ...HOOK, applicationId: 'a'.repeat(129) }, 'applicationId'],
  ['a blank before an application', { ...HOOK, applicationId: ' loja' }, 'applicationId'],
  ['a blank behind an application', { ...HOOK, applicationId: 'loja ' }, 'applicationId'],
  ['a line feed behind an application', { ...HOOK, applicationId: 'loja\n' }, 'applicationId'],
  ['a character of no width', { ...HOOK, applicationId: 'lo\u200bja' }, 'applicationId'],
  ['a blank that is no space', { ...HOOK, applicationId: 'lo\u00a0ja' }, 'applicationId'],
  ['a filler that nobody sees', { ...HOOK, applicationId: 'loja\u3164' }, 'applicationId'],
  ['a turn of the direction', { ...HOOK, applicationId: 'lo\u202eja' }, 'applicationId'],
  [
    'an application too long once it is composed',
    { ...HOOK, applicationId: '\u0958'.repeat(65) },
    'applicationId',
  ],
  ['a number as application', { ...HOOK, applicationId: 1 }, 'applicationId'],
  ['an operator as application', { ...HOOK, applicationId: { $ne: null } }, 'applicationId'],
  ['a text as state', { ...HOOK, enabled: 'true' }, 'enabled'],
  ['a number as state', { ...HOOK, enabled: 0 }, 'enabled'],
  ['null as state', { ...HOOK, enabled: null }, 'enabled'],
  ['a ref that is no UUID', { ...HOOK, ref: 'abc' }, 'ref'],
  ['an empty ref', { ...HOOK, ref: '' }, 'ref'],
  ['a ref in braces', { ...HOOK, ref: '{0190f3c2-7b1a-7c3e-9f54-2d6c8a1b0e4f}' }, 'ref'],
  ['a ref without hyphens', { ...HOOK, ref: '0190f3c27b1a7c3e9f542d6c8a1b0e4f' }, 'ref'],
  ['a ref with a line feed', { ...HOOK, ref: '0190f3c2-7b1a-7c3e-9f54-2d6c8a1b0e4f\n' }, 'ref'],
];

describe.each(['POST', 'PUT'])('the body of %s', (method) => {
  it.each(refusals)('is refused when it holds %s', async (_name, body, property) => {
    const answer = await acme.call({ method, body });
    expect(answer.status).toBe(422);
    expect(answer.body['code']).toBe('invalid-request');
    expect(violationsOf(answer)).toEqual(
      expect.arrayContaining([{ property, reason: expect.any(String) as unknown }]) as unknown,
    );
  });

  it.each([
    ['another content type', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a look-alike', { 'content-type': 'application/jsonp' }],
    ['a merge patch', { 'content-type': 'application/merge-patch+json' }],
    ['another charset', { 'content-type': 'application/json; charset=iso-8859-1' }],
    ['an empty content type', { 'content-type': '' }],
    ['compression', { 'content-encoding': 'gzip' }],
  ])('is refused as %s', async (_name, headers) => {
    const answer = await acme.call({ method, body: HOOK, headers: headers });
    expect(answer.status).toBe(422);
    expect(answer.body['code']).toBe('invalid-request');
  });

  it('is refused over 16 KiB, and taken up to it', async () => {
    const padded = (bytes: number): string => text + ' '.repeat(bytes - text.length);
    await acme.post(HOOK);
    expect((await acme.call({ method, body: padded(16_384) })).status).toBe(200);
    expect((await acme.call({ method, body: padded(16_385) })).status).toBe(422);
  });

  it('says that an application is a string or null', async () => {
    const answer = await acme.call({ method, body: { ...HOOK, applicationId: 1 } });
    expect(violationsOf(answer)).toEqual([
      {
        property: 'applicationId',
        reason: expect.stringMatching(/^must be a string .* or null;/) as unknown,
      },
    ]);
  });

  it('names every fault of the fields together, without the refused values', async () => {
    const body = {
      eventType: 'SECRET-1',
      applicationId: '',
      enabled: 'SECRET-2',
      ref: 'SECRET-3',
      x: 'SECRET-4',
    };
    const answer = await acme.call({ method, body });
    expect(violationsOf(answer)).toHaveLength(6);
    expect(violationsOf(answer)).toContainEqual({ property: 'ref', reason: 'must be a UUID' });
    expect(answer.text).not.toContain('SECRET');
  });
});

describe('a body', () => {
  it.each(['application/json', 'Application/JSON; charset=utf-8', 'application/json;charset="UTF-8"'])(
    'may come as %s',
    async (type) => {
      const answer = await acme.call({ method: 'POST', body: HOOK, headers: { 'content-type': type } });
      expect(answer.status).toBe(200);
    },
  );

  it('may begin with a byte order mark', async () => {
    const body = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]);
    const response = await fetch(`${api.url}/integration/v1/webhooks`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await api.desk.tokenOf(acme.tenantId)}`,
        'content-type': 'application/json',
      },
      body,
    });
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });

  it('is read only after the token and its scopes are checked', async () => {
    const options: CallOptions = { method: 'POST', body: '{' };
    const bare = { ...options, headers: { authorization: 'Bearer nonsense' } };
    expect((await acme.call(bare)).status).toBe(401);
    const read = `Bearer ${await api.desk.tokenOf(acme.tenantId, 'webhook.read')}`;
    expect((await acme.call({ ...options, headers: { authorization: read } })).status).toBe(403);
    expect((await acme.call(options)).status).toBe(422);
  });
});
