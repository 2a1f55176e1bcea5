import { setTimeout as delay } from 'node:timers/promises';
import { TOPICS } from '@webhooks/contracts';
import { floodBatches } from '../load/post-batches.js';
import type { Posted } from '../load/post-batches.js';
import { beginSystemUsage } from '../measure/system-usage.js';
import { VoidRun } from '../measure/void-run.js';
import { atMost } from '../report/figure.js';
import { ingestDoor } from '../world/doors.js';
import { nextSeed } from '../world/flood.js';
import { countRecords } from '../world/kafka-tools.js';
import type { World } from '../world/world.js';
import { othersFigure } from './run-figures.js';
import type { Stage } from './scenario.js';

export const EVENTS_TENANT = 'overload-events';

const MIB = 1_048_576;
const RUN = 'batches for ingest while its broker stands still';
const CONNECTIONS = 256;
const BATCH = 1_000;
/** Over what it took while the broker ran; its own bounds are 64 MiB of bodies and 64 MiB that wait. */
const GROWN_MIB = 400;
const BACK_DEADLINE_MS = 60_000;
const LOOK_MS = 100;

const requestsOf = ({ requests }: Posted, word: string): number => requests[word] ?? 0;
const othersOf = ({ requests }: Posted): number =>
  Object.entries(requests).reduce(
    (sum, [word, count]) => sum + (/^(202|503|cut)$/.test(word) ? 0 : count),
    0,
  );

/** Waits until batches are taken again; throws when none is for a minute. */
async function untilTaken(posted: () => Posted): Promise<void> {
  const taken = requestsOf(posted(), '202');
  const end = performance.now() + BACK_DEADLINE_MS;
  while (requestsOf(posted(), '202') <= taken + CONNECTIONS) {
    if (performance.now() > end) throw new VoidRun('nothing was taken any more, the broker being back');
    await delay(LOOK_MS);
  }
}

interface Still {
  readonly before: Posted;
  readonly during: Posted;
  readonly after: Posted;
}

/** Floods a running broker, then one that stands still, then a running one. */
async function floodStill(world: World, seconds: number): Promise<Still> {
  const door = await ingestDoor(world, CONNECTIONS);
  const broker = world.pids()['kafka'];
  if (door.kind !== 'ingest' || broker === undefined) throw new Error('the broker is not one of ours');
  const plan = { ...door, batch: BATCH, tenants: [EVENTS_TENANT], seed: nextSeed() };
  const flood = floodBatches(plan);
  try {
    await delay(seconds * 1_000);
    const before = flood.posted();
    process.kill(broker, 'SIGSTOP');
    await delay(seconds * 1_000);
    const during = flood.posted();
    process.kill(broker, 'SIGCONT');
    await untilTaken(() => flood.posted());
    return { before, during, after: flood.posted() };
  } finally {
    process.kill(broker, 'SIGCONT');
    await flood.end();
  }
}

/** What ingest does with more than Kafka takes. */
export async function measureEvents(stage: Stage, world: World): Promise<void> {
  const { kafkaBrokers } = world.stack.description();
  await stage.run(RUN, async () => {
    const { seconds } = stage.sizes;
    const endUsage = beginSystemUsage(world.pids());
    const { before, during, after } = await floodStill(world, seconds);
    const { usage: processes, othersPercent } = endUsage();
    const onTopic = await countRecords(kafkaBrokers, TOPICS.events);
    if (onTopic < after.events.accepted)
      throw new VoidRun(`${after.events.accepted} events were accepted and ${onTopic} are on the topic`);
    const ingest = processes.find(({ name }) => name === 'ingest');
    const peak = ingest ? ingest.peakBytes - ingest.rssBytes + ingest.grownBytes : NaN;
    const shed = requestsOf(during, '503') - requestsOf(before, '503');
    stage.report({
      run: RUN,
      ledger: `sent=${after.events.sent} accepted=${after.events.accepted} on the topic=${onTopic} lost=0`,
      figures: [
        {
          name: 'events taken each second, broker running',
          value: before.events.accepted / seconds,
          unit: '1/s',
        },
        { name: 'batches refused each second, broker still', value: shed / seconds, unit: '1/s' },
        { name: 'batches without an answer', value: requestsOf(after, 'cut'), unit: '' },
        { name: 'answered neither 202 nor 503', value: othersOf(after), unit: '', bar: atMost(0) },
        { name: 'memory of ingest, more at most', value: peak / MIB, unit: 'MiB', bar: atMost(GROWN_MIB) },
        othersFigure(othersPercent),
      ],
      usage: { deliveries: after.events.sent, each: 'event', processes },
    });
  });
}
