import { join } from 'node:path';
import { TOPICS } from '@webhooks/contracts';
import type { DoorPlan, LoadReport } from '../load/generator-messages.js';
import { startGenerator } from '../load/generator.js';
import { beginUsage } from '../measure/usage-span.js';
import type { SpanUsage } from '../measure/usage-span.js';
import { VoidRun } from '../measure/void-run.js';
import { ingestDoor, topicDoor } from '../world/doors.js';
import { nextSeed } from '../world/flood.js';
import { countRecords } from '../world/kafka-tools.js';
import type { World } from '../world/world.js';
import type { Scenario, Stage } from './scenario.js';

/** Nobody is registered for it, and no worker runs: only the way in is measured. */
const TENANT = 'ingest';
const WARM_UP_EVENTS = 4_000;

interface Case {
  readonly name: string;
  readonly through: 'ingest' | 'topic';
  /** Requests under way at any time, each with so many events. */
  readonly underWay: number;
  readonly batch: number;
  /** More events than a single-event case takes in the same time. */
  readonly more: number;
}

const CASES: readonly Case[] = [
  {
    name: 'raw kafkajs, one event a request, 64 under way',
    through: 'topic',
    underWay: 64,
    batch: 1,
    more: 1,
  },
  { name: 'POST of one event, 64 connections', through: 'ingest', underWay: 64, batch: 1, more: 1 },
  {
    name: 'raw kafkajs, 100 events a request, 8 under way',
    through: 'topic',
    underWay: 8,
    batch: 100,
    more: 4,
  },
  { name: 'POST of 100 events, 8 connections', through: 'ingest', underWay: 8, batch: 100, more: 4 },
  {
    name: 'raw kafkajs, 1,000 events a request, 4 under way',
    through: 'topic',
    underWay: 4,
    batch: 1_000,
    more: 4,
  },
  { name: 'POST of 1,000 events, 4 connections', through: 'ingest', underWay: 4, batch: 1_000, more: 4 },
];

interface Taken {
  readonly load: LoadReport;
  readonly usage: readonly SpanUsage[];
}

/** Sends events and holds what was acknowledged against what the topic has gained. */
async function takeIn(world: World, one: Case, count: number): Promise<Taken> {
  const brokers = world.stack.description().kafkaBrokers;
  const door: DoorPlan = one.through === 'topic' ? topicDoor(world) : await ingestDoor(world, one.underWay);
  const seed = nextSeed();
  const generator = await startGenerator({
    events: { count, seed, tenants: [TENANT] },
    door,
    pace: { kind: 'flood', underWay: one.underWay },
    batch: one.batch,
    file: join(world.dir, `ingest-${seed}.txt`),
  });
  try {
    const before = await countRecords(brokers, TOPICS.events);
    const endUsage = beginUsage({ ...world.pids(), generator: generator.pid });
    const load = await generator.go();
    const usage = endUsage();
    const gained = (await countRecords(brokers, TOPICS.events)) - before;
    if (gained !== load.accepted || load.accepted !== count)
      throw new VoidRun(`${load.accepted} of ${count} events were accepted and the topic gained ${gained}`);
    return { load, usage };
  } finally {
    await generator.stop();
  }
}

const rateOf = ({ load }: Taken): number => (load.accepted * 1_000_000) / (load.endedAt - load.startedAt);

async function measure(stage: Stage): Promise<void> {
  const world = await stage.openWorld({ tenants: [TENANT], ports: 1 });
  await world.stack.fleet.stop('delivery-worker');
  let raw: number | undefined;
  for (const one of CASES) {
    await stage.run(one.name, async () => {
      await takeIn(world, one, WARM_UP_EVENTS);
      const taken = await takeIn(world, one, stage.sizes.count * one.more);
      const rate = rateOf(taken);
      if (one.through === 'topic') raw = rate;
      const share =
        one.through === 'ingest' && raw !== undefined
          ? [{ name: 'share of raw kafkajs', value: (100 * rate) / raw, unit: '%' }]
          : [];
      stage.report({
        run: one.name,
        ledger: `accepted=${taken.load.accepted} on the topic=${taken.load.accepted} lost=0`,
        figures: [{ name: 'events each second', value: rate, unit: '1/s' }, ...share],
        usage: { deliveries: taken.load.accepted, processes: taken.usage },
      });
    });
  }
}

export const ingest: Scenario = {
  title: 'events a second through HTTP, single and in batches, beside raw kafkajs; count: single events',
  usual: { count: 15_000, seconds: 0 },
  whole: { count: 150_000, seconds: 0 },
  measure,
};
