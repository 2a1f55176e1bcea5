import fc from 'fast-check';
import { makeTopics, startConfigApi } from '../support/start-config-api.js';
import type { RunningConfigApi } from '../support/start-config-api.js';

let api: RunningConfigApi;
beforeAll(async () => {
  await makeTopics();
  api = await startConfigApi();
});
afterAll(() => api.stop());

const REFS = ['0190f3c2-7b1a-7c3e-9f54-2d6c8a1b0e4f', '0190F3C2-7B1A-7C3E-9F54-2D6C8A1B0E50'];
const URLS = ['https://a.acme.com.br/', 'https://b.acme.com.br/', 'https://typo.acme.com.br/'];
const EVENT_TYPE = 'PIX_OUT';

interface Call {
  readonly method: 'POST' | 'PUT';
  readonly ref?: string;
  readonly url: string;
  readonly applicationId?: string | null;
  readonly enabled?: boolean;
}
interface Row {
  readonly ref: string;
  readonly url: string;
  readonly applicationId: string | undefined;
  readonly enabled: boolean;
}

const option = <T>(...values: T[]) => fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 });
const call: fc.Arbitrary<Call> = fc.record(
  {
    method: fc.constantFrom('POST' as const, 'PUT' as const),
    ref: option(...REFS),
    url: fc.constantFrom(...URLS),
    applicationId: option<string | null>('shop', null),
    enabled: option(true, false),
  },
  { requiredKeys: ['method', 'url'] },
) as fc.Arbitrary<Call>;

/** The webhook that a call names: by its ref, by application and URL, or as the only one of its application (not to disable). */
function named(rows: readonly Row[], { ref, url, applicationId, enabled, method }: Call): Row | undefined {
  if (ref !== undefined && method === 'PUT') return rows.find((row) => row.ref === ref.toLowerCase());
  const ofApplication = rows.filter((row) => row.applicationId === (applicationId ?? undefined));
  const exact = ofApplication.find((row) => row.url === url);
  if (exact !== undefined || method === 'POST' || enabled === false) return exact;
  return ofApplication.length === 1 ? ofApplication[0] : undefined;
}

/** The rows after a call that succeeded. */
function after(rows: readonly Row[], given: Call, answered: Row): readonly Row[] {
  const target = named(rows, given);
  if (target === undefined || given.method === 'POST')
    return rows.some(({ ref }) => ref === answered.ref) ? rows : [...rows, answered];
  const application =
    given.applicationId === undefined ? target.applicationId : (given.applicationId ?? undefined);
  const next = {
    ref: target.ref,
    url: given.url,
    applicationId: application,
    enabled: given.enabled ?? target.enabled,
  };
  return rows.map((row) => (row === target ? next : row));
}

const toRow = (element: Record<string, unknown>): Row => ({
  ref: String(element['ref']),
  url: String(element['endpointUrl']),
  applicationId: typeof element['applicationId'] === 'string' ? element['applicationId'] : undefined,
  enabled: element['enabled'] === true,
});

it('no sequence of POST and PUT changes a webhook that it does not name', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 10 }), async (calls) => {
      const tenant = await api.tenant();
      let rows: readonly Row[] = [];
      for (const given of calls) {
        const { method, url, ...rest } = given;
        const body = { eventType: EVENT_TYPE, endpointUrl: url, ...rest };
        const answer = await (method === 'POST' ? tenant.post(body) : tenant.put(body));
        if (answer.status === 200) rows = after(rows, given, toRow(answer.body));
        else expect(answer.status).toBe(422);
        const { data } = (await tenant.list()).body as { data: Record<string, unknown>[] };
        expect(data.map(toRow)).toEqual(rows);
      }
    }),
    { numRuns: 60 },
  );
}, 60_000);
