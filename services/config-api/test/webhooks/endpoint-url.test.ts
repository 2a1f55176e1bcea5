import type { Caller } from '../support/caller.js';
import { faultOf } from '../support/openapi-check.js';
import { makeTopics, startConfigApi } from '../support/start-config-api.js';
import type { RunningConfigApi } from '../support/start-config-api.js';

let api: RunningConfigApi;
let acme: Caller;

beforeAll(async () => {
  await makeTopics();
  api = await startConfigApi({ OWN_HOSTS: 'api.psp.com.br, hooks.psp.com.br' });
  acme = await api.tenant();
});
afterAll(() => api.stop());

const documented = (url: unknown): boolean => faultOf('#/components/schemas/EndpointUrl', url) === undefined;

const label63 = 'a'.repeat(63);
const host253 = `${label63}.${label63}.${label63}.${'a'.repeat(57)}.br`;

/** Spellings of addresses that must not pass at registration, and some that must. */
const ACCEPTED: readonly string[] = [
  'https://hook.acme.com.br/pix',
  'HTTPS://Hook.Acme.com.br/pix',
  'https://xn--pagamento-exemplo-9jb.com.br/',
  'https://10.0.0.1.acme.com.br/',
  'https://hook.acme.com.br',
  'https://hook.acme.com.br?a=1&b=%20',
  'https://hook.acme.com.br/a/../b/@x;y=1,2!$*()[]~',
  'https://hook.acme.com.br:443/',
  'https://hook.acme.com.br:8443/',
  'https://hook.acme.com.br:1024/',
  'https://hook.acme.com.br:65535/',
  'https://a.b/',
  `https://${host253}/`,
  `https://hook.acme.com.br/${'a'.repeat(2048 - 25)}`,
];

const REFUSED: readonly unknown[] = [
  'http://hook.acme.com.br/',
  'ftp://hook.acme.com.br/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/plain,x',
  '//hook.acme.com.br/',
  'hook.acme.com.br',
  'https:hook.acme.com.br',
  'https:/127.0.0.1/',
  'https:///hook.acme.com.br/',
  'https:\\\\127.0.0.1\\x',
  'https://',
  '',
  null,
  42,
  true,
  [],
  {},
  ['https://hook.acme.com.br/'],
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0.0.0.0/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://0x7f000001/',
  'https://017700000001/',
  'https://127.0.0.1./',
  'https://0x/',
  'https://127%2e0%2e0%2e1/',
  'https://①②⑦.⓪.⓪.①/',
  'https://1.1.1.1/',
  'https://8.8.8.8:8443/',
  'https://1.1.1.1.1/',
  'https://08.0.0.1/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://0251.0376.0251.0376/',
  'https://100.100.100.200/',
  'https://168.63.129.16/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::127.0.0.1]/',
  'https://[64:ff9b::a9fe:a9fe]/',
  'https://[64:ff9b:1::a00:1]/',
  'https://[2001:0:7f00:1::]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1%25eth0]/',
  'https://[ff02::1]/',
  'https://[hook.acme.com.br]/',
  'https://localhost/',
  'https://localhost:3000/',
  'https://localhost./',
  'https://api.localhost/',
  'https://localhoſt/',
  'https://metadata.google.internal/',
  'https://mongo.db.svc.cluster.local/',
  'https://kafka:9093/',
  'https://host.docker.internal/',
  'https://1.0.0.127.in-addr.arpa/',
  ...'local localdomain intranet lan home corp private svc onion alt invalid test example'
    .split(' ')
    .map((suffix) => `https://hook.${suffix}/`),
  'https://user:pw@hook.acme.com.br/',
  'https://hook.acme.com.br@127.0.0.1/',
  'https://hook.acme.com.br%2f@127.0.0.1/',
  'https://127.0.0.1\\@hook.acme.com.br/',
  'https://hook.acme.com.br#@127.0.0.1/',
  'https://@hook.acme.com.br/',
  'https://hook.acme.com.br:65536/',
  'https://hook.acme.com.br:/',
  'https://hook.acme.com.br:0443/',
  'https://hook.acme.com.br:80/',
  'https://hook.acme.com.br:22/',
  'https://hook.acme.com.br:1023/',
  'https://hook.acme.com.br./',
  'https://hook..acme.com.br/',
  'https://.acme.com.br/',
  'https://-a.acme.com.br/',
  'https://a-.acme.com.br/',
  'https://hook_1.acme.com.br/',
  'https://hook.acme.123/',
  'https://hook.acme.0x1f/',
  `https://${'a'.repeat(64)}.com.br/`,
  `https://${'a'.repeat(320)}/`,
  `https://hook.acme.com.br/${'a'.repeat(2100)}`,
  ' https://hook.acme.com.br/',
  'https://hook.acme.com.br/ ',
  'https://hook.ac\tme.com.br/',
  'https://hook.acme.com.br/a b',
  'https://hook.acme.com.br/\n',
  'https://hook.acme.com.br/\u0000',
  'https://hook.acme.com.br/é',
  'https://hook.acme.com.br/"<>^`{|}',
  'https://hook.acme.com.br/#frag',
  'https://ｈｏｏｋ.acme.com.br/',
];

/** Refused by what a pattern cannot say: a length of the host, letter case of a suffix, the operator's own hosts. */
const REFUSED_BEYOND_THE_PATTERN: readonly string[] = [
  `https://a${host253}/`,
  'https://api.LOCALHOST/',
  'https://hook.Internal/',
  'https://api.psp.com.br/',
  'https://HOOKS.psp.com.br/x',
];

describe('an endpoint URL', () => {
  it.each(ACCEPTED)('is accepted and documented: %s', async (endpointUrl) => {
    const { status, body } = await (await api.tenant()).post({ eventType: 'PIX_OUT', endpointUrl });
    expect(status).toBe(200);
    expect(body['endpointUrl']).toBe(endpointUrl);
    expect(documented(endpointUrl)).toBe(true);
  });

  it.each(REFUSED.map((url) => [url]))('is refused and not documented: %p', async (endpointUrl) => {
    const { status, body } = await acme.post({ eventType: 'PIX_OUT', endpointUrl });
    expect(status).toBe(422);
    expect(['invalid-request', 'invalid-endpoint-url']).toContain(body['code']);
    expect(documented(endpointUrl)).toBe(false);
  });

  it.each(REFUSED_BEYOND_THE_PATTERN)(
    'is refused although the pattern lets it pass: %s',
    async (endpointUrl) => {
      const { status, body } = await acme.post({ eventType: 'PIX_OUT', endpointUrl });
      expect(status).toBe(422);
      expect(body).toMatchObject({ code: 'invalid-endpoint-url', violations: [{ property: 'endpointUrl' }] });
    },
  );

  it('has the same rules in an update', async () => {
    await acme.post({ eventType: 'PIX_STATIC', endpointUrl: 'https://hook.acme.com.br/pix' });
    const { status, body } = await acme.put({ eventType: 'PIX_STATIC', endpointUrl: 'https://10.0.0.1/' });
    expect(status).toBe(422);
    expect(body['code']).toBe('invalid-endpoint-url');
  });
});

describe('the development switch', () => {
  it('lets localhost pass with a port from 1024, and nothing else', async () => {
    const open = await startConfigApi({ ALLOW_LOCALHOST_ENDPOINTS: 'true' });
    const post = async (endpointUrl: string): Promise<number> => {
      const response = await fetch(`${open.url}/integration/v1/webhooks`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await open.desk.tokenOf('acme')}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ eventType: 'PIX_OUT', endpointUrl }),
      });
      await response.body?.cancel();
      return response.status;
    };
    expect(await post('https://localhost:3000/hook')).toBe(200);
    expect(await post('https://localhost:443/hook')).toBe(422);
    expect(await post('https://127.0.0.1:3000/hook')).toBe(422);
    expect(await post('https://api.localhost:3000/hook')).toBe(422);
    await open.stop();
  });

  it('and other ports are settings', async () => {
    const strict = await startConfigApi({ ENDPOINT_PORTS: '443' });
    const tenant = await strict.tenant();
    const url = 'https://hook.acme.com.br:8443/';
    expect((await tenant.post({ eventType: 'PIX_OUT', endpointUrl: url })).status).toBe(422);
    await strict.stop();
  });
});
