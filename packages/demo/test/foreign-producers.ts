import { join } from 'node:path';
import type { PaymentEvent } from '@webhooks/contracts';
import { buildEvent, eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import type { TestStack } from './test-stack.js';
import { feedProgram, has, needs, python } from './tool.js';

const PRODUCE = join(import.meta.dirname, 'foreign', 'produce.py');
const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;

let running: TestStack;
let endpoint: Endpoint;

const sample = (): PaymentEvent[] =>
  Array.from({ length: 60 }, () => buildEvent({ tenantId: 'acme', eventType: 'PIX_STATIC' }));
const brokers = (): string => running.stack.description().kafkaBrokers.join(',');
const hasArrived = ({ id }: PaymentEvent): boolean => endpoint.arrivals.some((arrival) => arrival.id === id);

const allArrive = (events: readonly PaymentEvent[]): Promise<void> =>
  eventually(
    () => {
      const missing = events.filter((event) => !hasArrived(event));
      if (missing.length > 0) throw new Error(`${missing.length} of ${events.length} have not arrived`);
    },
    { timeoutMs: 30_000, message: 'waiting for foreign events' },
  );

async function produce(
  codec: string,
  mode: string,
  partitioner = 'consistent_random',
  keys = 'keys',
): Promise<PaymentEvent[]> {
  const events = sample();
  await feedProgram(
    python ?? '',
    [PRODUCE, brokers(), codec, mode, partitioner, keys],
    events.map((event) => JSON.stringify(event)).join('\n'),
  );
  return events;
}

async function setUp(): Promise<void> {
  const { certPem, keyPem } = await running.stack.authority.issue(['localhost']);
  endpoint = await startEndpoint({ certPem, keyPem });
  await running.clientOf('acme').register({ eventType: 'PIX_STATIC', endpointUrl: endpoint.url });
  // The registration is in force for what is appended later than 1 s after its answer.
  const probe = buildEvent({ tenantId: 'acme', eventType: 'PIX_STATIC' });
  await eventually(
    async () => {
      await running.clientOf('acme').postEvent(probe);
      if (!hasArrived(probe)) throw new Error('not in force yet');
    },
    { timeoutMs: 20_000, intervalMs: 250, message: 'waiting for the registration' },
  );
}

/** Tests of a stack that runs when they do. */
export function testForeignProducers(runningStack: () => TestStack): void {
  beforeAll(() => {
    running = runningStack();
    return setUp();
  });
  afterAll(() => endpoint.close());

  describe('events of a Python client (librdkafka)', () => {
    const withPython = needs('confluent-kafka (set CI_PYTHON)', python !== undefined);

    withPython.each(CODECS)('compressed with %s arrive', async (codec) => {
      await allArrive(await produce(codec, 'plain'));
    });

    withPython.each(['random', 'murmur2_random', 'fnv1a_random'])(
      'partitioned by %s arrive',
      async (partitioner) => {
        await allArrive(await produce('lz4', 'plain', partitioner));
      },
    );

    withPython('without keys arrive', async () => {
      await allArrive(await produce('none', 'plain', 'random', 'none'));
    });

    withPython('of an idempotent producer arrive', async () => {
      await allArrive(await produce('zstd', 'idempotent'));
    });

    withPython('of a transaction arrive when it is committed, and never when it is aborted', async () => {
      const aborted = await produce('snappy', 'abort');
      await allArrive(await produce('snappy', 'commit'));
      // Written later to the same partitions: when they are here, the aborted ones have been passed.
      await allArrive(await produce('none', 'plain'));
      expect(aborted.filter(hasArrived)).toEqual([]);
    });
  });

  describe('events of kcat', () => {
    const withKcat = needs('kcat', has('kcat', '-V'));

    withKcat.each(['none', 'gzip', 'snappy', 'lz4'])(
      'compressed with %s, without keys, arrive',
      async (codec) => {
        const events = sample();
        await feedProgram(
          'kcat',
          ['-P', '-b', brokers(), '-t', 'payments.events', '-z', codec],
          events.map((event) => JSON.stringify(event)).join('\n'),
        );
        await allArrive(events);
      },
    );

    withKcat('with keys arrive', async () => {
      const events = sample();
      const lines = events.map((event) => `${event.data.endToEndId}|${JSON.stringify(event)}\n`).join('');
      await feedProgram('kcat', ['-P', '-b', brokers(), '-t', 'payments.events', '-K', '|'], lines);
      await allArrive(events);
    });
  });
}
