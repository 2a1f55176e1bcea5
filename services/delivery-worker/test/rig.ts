import { randomUUID } from 'node:crypto';
import { TOPICS } from '@webhooks/contracts';
import type { AttemptPack, ConfigurationRecord, PaymentEvent } from '@webhooks/contracts';
import { buildEvent, eventually, randomName } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { buildRecord } from './builders.js';
import { openBench } from './start-worker.js';
import type { Bench, RunningWorker, SeenRecord } from './start-worker.js';

/** Two retries, after 1 s each: the third attempt is the last. */
const RETRY_DELAYS = '1s,1s';
export const WAIT = { timeoutMs: 20_000 };

/** A worker on an emptied broker, and everything it tells. */
export interface Rig {
  readonly bench: Bench;
  readonly worker: RunningWorker;
  /** Attempts, dead letters and rejected records, as they come. */
  readonly log: readonly SeenRecord[];
  /** A tenant of its own (unless given) with one configuration that is in force. */
  readonly register: (
    endpoint: Pick<Endpoint, 'url'>,
    over?: Partial<ConfigurationRecord>,
  ) => Promise<ConfigurationRecord>;
  /** Waits until the attempts of a configuration tell this story: `1 500`, `2 200`, `dead attempts-exhausted`. */
  readonly untilTimeline: (ref: string, expected: readonly string[]) => Promise<void>;
  readonly story: (ref: string) => string[];
  readonly stop: () => Promise<void>;
}

export const eventFor = ({ tenantId }: ConfigurationRecord): PaymentEvent =>
  buildEvent({ tenantId, eventType: 'PIX_OUT' });

const sentenceOf = (entry: AttemptPack['records'][number]): string => {
  if (entry.kind === 'attempt') return `${entry.attempt} ${entry.status ?? entry.error ?? ''}`;
  return 'reason' in entry ? `${entry.kind} ${entry.reason}` : entry.kind;
};

/** In order of time: entries of one delivery lie on several partitions, which are read as they come. */
function timelineOf(log: readonly SeenRecord[], ref: string): string[] {
  return log
    .filter(({ topic }) => topic === TOPICS.attempts)
    .flatMap(({ value }) => (JSON.parse(String(value)) as AttemptPack).records)
    .filter((entry) => entry.ref === ref)
    .sort((a, b) => a.at - b.at)
    .map(sentenceOf);
}

const countKnown = async (worker: RunningWorker): Promise<number> =>
  Number(/^webhook_configurations (\d+)$/m.exec(await worker.metrics())?.[1] ?? 0);

/** `env`: settings of the worker besides those that every test needs. */
export async function openRig(env: Readonly<Record<string, string>> = {}): Promise<Rig> {
  const bench = await openBench();
  const worker = await bench.startWorker({ RETRY_DELAYS, ...env });
  const log = await bench.follow(TOPICS.attempts, TOPICS.deadLetters, TOPICS.rejected);
  return {
    bench,
    worker,
    log,
    register: async (endpoint, over = {}) => {
      const configuration = buildRecord({
        tenantId: randomName('tenant'),
        ref: randomUUID(),
        endpointUrl: endpoint.url,
        ...over,
      });
      const before = await countKnown(worker);
      await bench.configure(configuration);
      await eventually(async () => expect(await countKnown(worker)).toBeGreaterThan(before), {
        ...WAIT,
        message: 'waiting for a configuration',
      });
      return configuration;
    },
    story: (ref) => timelineOf(log, ref),
    untilTimeline: (ref, expected) =>
      eventually(() => expect(timelineOf(log, ref)).toEqual(expected), {
        ...WAIT,
        message: `waiting for ${expected.join(', ')}`,
      }),
    stop: async () => {
      await worker.stop();
      await bench.stop();
    },
  };
}
