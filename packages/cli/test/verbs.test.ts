import { makeDelivery, startCliStack } from './support/cli-stack.js';
import type { CliStack, Made } from './support/cli-stack.js';
import { run, runProcess } from './support/run-webhooks.js';

const NO_UUID = '00000000-0000-4000-8000-000000000000';

let cli: CliStack;
let made: Made;

beforeAll(async () => {
  cli = await startCliStack();
  made = await makeDelivery(cli);
});

afterAll(async () => {
  await cli.stop();
});

interface Verb {
  readonly verb: string;
  /** After the verb. */
  readonly args?: () => readonly string[];
  /** On standard output. */
  readonly says: RegExp;
  /** Of the JSON, which is an object or a list of them. */
  readonly members: readonly string[];
  /** The arguments with an id that nothing has. */
  readonly unknown?: readonly string[];
}

const ALL = ['--from', '2026-01-01'];
const VERBS: readonly Verb[] = [
  { verb: 'login', says: /profile +default\n.*clientId +acme-app/s, members: ['profile', 'file'] },
  {
    verb: 'list',
    says: /ref +eventType.*\n.*PIX_DYNAMIC_PAID/,
    members: ['ref', 'endpointUrl'],
  },
  {
    ...{ verb: 'show', args: () => [made.ref], unknown: [NO_UUID] },
    ...{ says: /state +healthy/, members: ['ref', 'health'] },
  },
  {
    ...{ verb: 'create', args: () => ['--event-type', 'PIX_OUT', '--endpoint-url', cli.endpoint.url] },
    ...{ says: /eventType +PIX_OUT/, members: ['ref', 'enabled'] },
  },
  {
    ...{
      verb: 'update',
      args: () => [made.ref, '--application-id', 'shop'],
      unknown: [NO_UUID, '--application-id', 'shop'],
    },
    ...{ says: /applicationId +shop/, members: ['ref', 'applicationId'] },
  },
  {
    ...{ verb: 'disable', args: () => [made.ref], unknown: [NO_UUID] },
    ...{ says: /enabled +false/, members: ['ref'] },
  },
  {
    ...{ verb: 'enable', args: () => [made.ref], unknown: [NO_UUID] },
    ...{ says: /enabled +true/, members: ['ref'] },
  },
  {
    ...{ verb: 'rotate-secret', args: () => [made.ref], unknown: [NO_UUID] },
    ...{ says: /secret +whsec_/, members: ['ref', 'secret'] },
  },
  {
    ...{ verb: 'policy', args: () => [made.ref, '-f', made.policy], unknown: [NO_UUID] },
    ...{ says: /timeoutMs +20000\nretryDelays +30s 5m\n\nheader +endsWith\nX-Key +cdef/ },
    ...{ members: ['timeoutMs', 'headers'] },
  },
  {
    ...{ verb: 'apply', args: () => ['-f', made.file, '--yes'] },
    ...{ says: /create .*PIX_DYNAMIC_PAID.*\ncreate .*PIX_STATIC.*\nundeclared .*PIX_OUT/s },
    ...{ members: ['change', 'endpointUrl'] },
  },
  {
    ...{ verb: 'trigger', args: () => ['PIX_STATIC'] },
    ...{ says: /PIX_STATIC +evt_\w+ +E00000000\w+ +accepted/, members: ['id', 'status'] },
  },
  {
    ...{ verb: 'find', args: () => [made.endToEndId], unknown: ['E00000000202601010000aaaaaaaaaaa'] },
    ...{
      says: /^PIX_DYNAMIC_PAID of .*PAYMENT\n.*DELIVERY\n.*attempt +at .*1 .*delivered +200/s,
      members: ['verdicts', 'payment', 'deliveries', 'truncated'],
    },
  },
  {
    ...{ verb: 'deliveries list', args: () => ['--event-id', made.eventId] },
    ...{ says: /deliveryId .*\n\w{52} +\S{36} +PIX_DYNAMIC_PAID +1\.00 +E\w{31} .* https:/ },
    ...{ members: ['deliveryId', 'status'] },
  },
  {
    verb: 'payments list',
    says: /^occurredAt +amount .*\n.* 1\.00 +E\w{31} /,
    members: ['eventId', 'amount'],
  },
  {
    ...{ verb: 'send', args: () => [made.eventId, '--ref', made.ref] },
    ...{ unknown: ['evt_0', '--ref', NO_UUID], says: /cycle +r/, members: ['deliveryId', 'cycle'] },
  },
  {
    ...{ verb: 'changes', args: () => [made.ref], unknown: [NO_UUID] },
    ...{ says: /register +eventType: – → PIX_DYNAMIC_PAID; /, members: ['data', 'results'] },
  },
  {
    ...{ verb: 'alerts create', args: () => ['--endpoint-url', `${cli.endpoint.url}/alerts`] },
    ...{ says: /format +event/, members: ['ref', 'hasSecret'] },
  },
  { verb: 'alerts list', says: /ref +endpointUrl +format/, members: ['ref', 'language'] },
  {
    ...{ verb: 'overview', says: /ref +eventType +state .*\n\S{36} +PIX_DYNAMIC_PAID +healthy /s },
    ...{ members: ['data', 'series'] },
  },
  {
    ...{ verb: 'statement', says: /^date .*\nbalanced .*\n\nref +eventType +events .*MATCHED NO WEBHOOK/s },
    ...{ members: ['date', 'webhooks'] },
  },
  {
    ...{ verb: 'deliveries show', args: () => [made.deliveryId], unknown: ['a'.repeat(52)] },
    ...{ says: /status .*\n\n?.*attempt /s, members: ['deliveryId', 'attempts'] },
  },
  {
    ...{ verb: 'deliveries redeliver', args: () => [made.deliveryId], unknown: ['a'.repeat(52)] },
    ...{ says: /cycle +r/, members: ['deliveryId', 'cycle'] },
  },
  {
    ...{ verb: 'redeliveries create', args: () => ['--dry-run', '--status', 'delivered', ...ALL] },
    ...{ says: /matched +\d/, members: ['matched'] },
  },
  { verb: 'redeliveries list', says: /id +state/, members: ['id', 'state'] },
  {
    ...{ verb: 'redeliveries watch', args: () => [made.job], unknown: [NO_UUID] },
    ...{ says: /state +completed/, members: ['id', 'sent'] },
  },
  {
    ...{ verb: 'redeliveries cancel', args: () => [made.job], unknown: [NO_UUID] },
    ...{ says: /state +(completed|cancelled)/, members: ['id', 'state'] },
  },
];

const words = ({ verb, args = () => [] }: Verb): readonly string[] => [...verb.split(' '), ...args()];
const codeOf = (err: string): unknown => (JSON.parse(err) as { error: { code: unknown } }).error.code;

describe.each(VERBS)('webhooks $verb', (verb) => {
  test('shows its result and ends with 0', async () => {
    const { code, out, err } = await runProcess(words(verb), cli.env);
    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(verb.says);
  });

  test('prints JSON with --json', async () => {
    const { code, out, err } = await run([...words(verb), '--json'], cli.env);
    const value: unknown = JSON.parse(out);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(Object.keys((Array.isArray(value) ? value[0] : value) as object)).toEqual(
      expect.arrayContaining([...verb.members]),
    );
  });
});

/** One of each service: what they share is how a failure is told. */
const ONE_OF_EACH = VERBS.filter(({ verb }) => ['list', 'trigger', 'find'].includes(verb));

describe.each(ONE_OF_EACH)('webhooks $verb', (verb) => {
  test('with a wrong secret of the client ends with 3 and says to log in', async () => {
    const env = { ...cli.env, WEBHOOKS_CLIENT_SECRET: 'wrong' };
    const [plain, machine] = await Promise.all([run(words(verb), env), run([...words(verb), '--json'], env)]);
    expect([plain.code, machine.code]).toEqual([3, 3]);
    expect(plain.err).toMatch(
      /token issuer .* responded with an error: 401 invalid_client.*\n→ check token endpoint, client id, secret, scope/,
    );
    expect(codeOf(machine.err)).toBe('invalid-client');
  });
});

describe.each(VERBS.filter(({ unknown }) => unknown))(
  'webhooks $verb with an unknown id',
  ({ verb, unknown = [] }) => {
    test('ends with 4', async () => {
      const args = [...verb.split(' '), ...unknown];
      const [plain, machine] = await Promise.all([run(args, cli.env), run([...args, '--json'], cli.env)]);
      expect({ codes: [plain.code, machine.code], out: plain.out + machine.out }).toEqual({
        codes: [4, 4],
        out: '',
      });
      expect(plain.err).toMatch(/\n→ /);
      expect(codeOf(machine.err)).toMatch(/^(not-found|webhook-not-registered)$/);
    });
  },
);

test.each([
  ['an id of another form', ['deliveries', 'show', 'abc'], 'URL', [2, /^[^\n]+\n→ correct what it names/]],
  ['the address of another service', ['list'], 'QUERY_URL', [4, /served by.*\n→ the address is wrong/]],
  [
    'an unknown payment',
    ['find', 'E123'],
    'URL',
    [4, /E123\n→ an endToEndId has 32 letters and digits, this has 4;/],
  ],
  ['no change', ['update', NO_UUID], 'URL', [2, /nothing to change\n→ use --event-type/]],
] as const)('%s is reported with a way out', async (_what, args, address, [code, says]) => {
  const ended = await run(args, { ...cli.env, WEBHOOKS_URL: cli.env[`WEBHOOKS_${address}`] ?? '' });
  expect([ended.code, ended.err]).toEqual([code, expect.stringMatching(says)]);
});

// The last, because nothing runs after it.
describe('with the services stopped', () => {
  beforeAll(async () => {
    for (const service of ['query-api', 'ingest', 'config-api']) await cli.stack.fleet.stop(service);
  });

  test.each([...ONE_OF_EACH, { verb: 'listen' } as Verb])(
    'webhooks $verb ends with 5 and says that no response came',
    async (verb) => {
      const [plain, machine] = await Promise.all([
        run(words(verb), cli.env),
        run([...words(verb), '--json'], cli.env),
      ]);
      expect([plain.code, machine.code]).toEqual([5, 5]);
      expect(plain.err).toMatch(/no response from http:.*\n→ check that the service runs/);
      expect(codeOf(machine.err)).toBe('ECONNREFUSED');
    },
  );
});
