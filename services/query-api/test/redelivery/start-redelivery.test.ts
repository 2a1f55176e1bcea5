import type { ApiRequest } from '@webhooks/http-api';
import type { KnownConfiguration } from '../../src/configurations.js';
import type { RedeliveryJob } from '../../src/redelivery/redelivery-store.js';
import { readRedeliveryRequest, startRedelivery } from '../../src/redelivery/start-redelivery.js';
import type { RedeliveryRequest, StartRedeliveryPorts } from '../../src/redelivery/start-redelivery.js';
import { ENABLED } from './support/open-rig.js';

const NOW = Date.parse('2026-11-21T14:00:00Z');
const at = (time: string): Date => new Date(`2026-11-21T${time}Z`);

const ports: StartRedeliveryPorts = {
  storeFor: () => ({ insert: () => Promise.resolve(true) }),
  countMatches: () => Promise.resolve({ matched: 3, isLowerBound: false }),
  configurations: { current: () => Promise.reject(new Error('no ref is named here')) },
  newId: () => '0193510a-7c1e-7b1a-9f54-2d6c8a1b0e4f',
  now: () => NOW,
};

const WEBHOOK: KnownConfiguration = { ...ENABLED, eventType: 'PIX_OUT' };
const CALLER = { tenantId: 'acme', clientId: 'console', personId: '0193510a' };

type Range = Pick<RedeliveryRequest['filter'], 'from' | 'to'>;

const start = (range: Range) =>
  startRedelivery(CALLER, { filter: { status: 'dead', ...range }, dryRun: false }, ports);

it.each<[string, Range, string]>([
  ['to is now when it is left out', { from: at('13:00:00') }, '14:00:00'],
  ['to is as given', { from: at('13:00:00'), to: at('13:30:00') }, '13:30:00'],
  ['to is now when it lies in the future', { from: at('13:00:00'), to: at('15:00:00') }, '14:00:00'],
])('%s', async (_what, range, expected) => {
  const started = await start(range);
  expect(started).toMatchObject({ status: 202, body: { filter: { to: at(expected).toISOString() } } });
});

it.each<[string, Range]>([
  ['lies in the future', { from: at('15:00:00') }],
  ['lies in the future', { from: at('15:00:00'), to: at('16:00:00') }],
  ['must be before to', { from: at('13:00:00'), to: at('13:00:00') }],
  ['must be before to', { from: at('13:00:00'), to: at('12:00:00') }],
  ['must be before to', { from: at('16:00:00'), to: at('15:00:00') }],
])('from %s: %j is refused', async (reason, range) => {
  await expect(start(range)).rejects.toMatchObject({
    code: 'invalid-request',
    violations: [{ property: 'from', reason }],
  });
});

it('a ref must be a UUID', () => {
  const body = Buffer.from('{"from":"2026-11-21T13:00:00Z","ref":"x"}');
  const request = { header: () => 'application/json', body } as unknown as ApiRequest;
  expect(() => readRedeliveryRequest(request)).toThrow('ref must be a UUID');
});

it('a dry run shows the filter that it counted, defaults filled in', async () => {
  const request = { filter: { status: 'dead', from: at('13:00:00') }, dryRun: true } as const;
  expect(await startRedelivery(CALLER, request, ports)).toEqual({
    status: 200,
    body: {
      dryRun: true,
      filter: { status: 'dead', from: at('13:00:00').toISOString(), to: new Date(NOW).toISOString() },
      matched: 3,
      matchedIsLowerBound: false,
    },
  });
});

describe('a job of what a webhook missed', () => {
  const missed = { status: 'missed', from: at('13:00:00') } as const;

  it('must name the webhook', async () => {
    await expect(startRedelivery(CALLER, { filter: missed, dryRun: false }, ports)).rejects.toMatchObject({
      violations: [{ property: 'ref', reason: 'is required: `missed` concerns one webhook' }],
    });
  });

  it('counts for a webhook that is disabled, and sends it nothing', async () => {
    const current = () => Promise.resolve({ ...WEBHOOK, enabled: false });
    const parts = { ...ports, configurations: { current } };
    const filter = { ...missed, ref: '0191e7a2-0000-7000-8000-000000000001' };
    const counted = await startRedelivery(CALLER, { filter, dryRun: true }, parts);
    expect(counted).toMatchObject({ status: 200, body: { dryRun: true, filter: { eventType: 'PIX_OUT' } } });
    await expect(startRedelivery(CALLER, { filter, dryRun: false }, parts)).rejects.toMatchObject({
      code: 'webhook-disabled',
    });
  });

  it('is about the type that the webhook has, and begins when what is under way is in the log', async () => {
    const jobs: RedeliveryJob[] = [];
    const insert = (job: RedeliveryJob): Promise<boolean> => {
      jobs.push(job);
      return Promise.resolve(true);
    };
    const current = () => Promise.resolve(WEBHOOK);
    const filter = { ...missed, ref: '0191e7a2-0000-7000-8000-000000000001' };
    const started = await startRedelivery(
      CALLER,
      { filter, dryRun: false },
      { ...ports, storeFor: () => ({ insert }), configurations: { current } },
    );
    expect(started).toMatchObject({ body: { filter: { status: 'missed', eventType: 'PIX_OUT' } } });
    expect(jobs.map(({ leaseUntil }) => leaseUntil.getTime() - NOW)).toEqual([40_000]);
    expect(jobs[0]?.startedBy).toEqual({ client: 'console', person: '0193510a' });
  });
});
