import { configurationKey, openPolicySecrets, parseKeyring } from '@webhooks/contracts';
import fc from 'fast-check';
import { openConfigurationTopic } from '../support/configuration-topic.js';
import type { ConfigurationTopic, SeenConfiguration } from '../support/configuration-topic.js';
import { SECRETS_KEYS, makeTopics, startConfigApi } from '../support/start-config-api.js';
import type { RunningConfigApi } from '../support/start-config-api.js';

let api: RunningConfigApi;
let topic: ConfigurationTopic;
beforeAll(async () => {
  await makeTopics();
  api = await startConfigApi();
  topic = openConfigurationTopic();
});
afterAll(async () => {
  await topic.close();
  await api.stop();
});

type Headers = Readonly<Record<string, string | null>> | null;
interface Given {
  readonly timeoutMs?: number;
  readonly headers?: Headers;
}

const name = fc.constantFrom('Authorization', 'AUTHORIZATION', 'X-Key', 'x-key', 'constructor');
const given: fc.Arbitrary<Given | 'DELETE'> = fc.oneof(
  { weight: 1, arbitrary: fc.constant('DELETE' as const) },
  {
    weight: 6,
    arbitrary: fc
      .record(
        {
          timeoutMs: fc.integer({ min: 1_000, max: 30_000 }),
          headers: fc.option(
            fc.uniqueArray(fc.tuple(name, fc.option(fc.stringMatching(/^[!-~]{1,30}$/), { freq: 3 })), {
              selector: ([one]) => one.toLowerCase(),
            }),
            { freq: 6 },
          ),
        },
        { requiredKeys: [] },
      )
      .map(({ headers, ...rest }) => ({
        ...rest,
        ...(headers === undefined ? {} : { headers: headers && Object.fromEntries(headers) }),
      })),
  },
);

interface Policy {
  readonly timeoutMs?: number;
  /** By their names in lower case. */
  readonly values: Readonly<Record<string, string>>;
}

function after({ values }: Policy, request: Given | 'DELETE'): Policy {
  if (request === 'DELETE') return { values: {} };
  const { headers, ...rest } = request;
  const next = new Map(headers === null ? [] : Object.entries(values));
  for (const [one, value] of Object.entries(headers ?? {}))
    if (value === null) next.delete(one.toLowerCase());
    else next.set(one.toLowerCase(), value);
  return { ...rest, values: Object.fromEntries(next) };
}

/** The policy of a record, its values opened. */
function policyOf(record: SeenConfiguration): Policy {
  const { sealed, ...rest } = (record['policy'] ?? {}) as { sealed?: string };
  const key = configurationKey(String(record['tenantId']), String(record['ref']));
  const ring = parseKeyring(SECRETS_KEYS);
  const { headers = {} } = sealed === undefined ? {} : openPolicySecrets(ring, sealed, key);
  const lower = Object.entries(headers).map(([one, value]) => [one.toLowerCase(), value] as const);
  expect(new Set(lower.map(([one]) => one)).size).toBe(lower.length);
  return { ...rest, values: Object.fromEntries(lower) };
}

it('no sequence of PUT and DELETE changes a sealed value that it does not name, and all else is as given', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(given, { minLength: 1, maxLength: 6 }), async (requests) => {
      const tenant = await api.tenant();
      const webhook = { eventType: 'PIX_OUT', endpointUrl: 'https://hook.acme.com.br/' };
      const ref = String((await tenant.post(webhook)).body['ref']);
      let wanted: Policy = { values: {} };
      for (const request of requests) {
        const gone = request === 'DELETE';
        const { status } = await (gone ? tenant.removePolicy(ref) : tenant.putPolicy(ref, request));
        expect(status).toBe(gone ? 204 : 200);
        wanted = after(wanted, request);
      }
      const record = await topic.recordOf(tenant.tenantId, ref, requests.length + 1);
      expect(policyOf(record)).toEqual(wanted);
    }),
    { numRuns: 60 },
  );
}, 60_000);
