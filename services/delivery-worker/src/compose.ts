import {
  RECORD_FORMAT,
  DUE_AT,
  dueAtOf,
  RETRY_TIERS,
  TOPIC_ACCESS,
  TOPIC_TABLE,
  TOPICS,
} from '@webhooks/contracts';
import {
  checkKafka,
  connectKafka,
  headerOf,
  openDelayedSource,
  openSource,
  prepareTopics,
  watchRetention,
} from '@webhooks/kafka';
import type { Kafka, KafkaNeeds, Source, SourceOptions } from '@webhooks/kafka';
import { checkEgress } from '@webhooks/outbound';
import { watchSource } from '@webhooks/runtime';
import type { Checks, ServiceScope } from '@webhooks/runtime';
import { composeDeliver } from './compose-deliver.js';
import type { Delivering, DeliveryParts } from './compose-deliver.js';
import type { WorkerConfig } from './config.js';
import { openConfigurationCache } from './configurations/configuration-cache.js';
import { createObservers } from './observe/attempt-line.js';
import { createSourceGauges } from './observe/source-health.js';
import type { Watched } from './observe/source-health.js';
import { consumeEvent, rejectEvent } from './path/consume-event.js';
import type { ConsumeEventPorts } from './path/consume-event.js';
import { consumeFanOut, createSliceTurns } from './path/consume-fan-out.js';
import { consumeTask, moveTask, publishDamaged } from './path/consume-task.js';
import type { ConsumeTaskPorts } from './path/consume-task.js';
import { SLICE_TASKS } from './path/fan-out.js';
import { SettledMemory } from './path/settled-memory.js';
import { createAttemptLog } from './publish/attempt-log.js';
import { openPublisher } from './publish/publisher.js';
import { createQuarantine, createQuarantineBudget, NOT_HANDLED } from './publish/quarantine.js';
import type { QuarantineBudget } from './publish/quarantine.js';

const LIVE_TOPICS = { events: TOPICS.events, deliveries: TOPICS.deliveries, 'fan-outs': TOPICS.fanOuts };
const READ_TOPICS = [...Object.values(LIVE_TOPICS), ...RETRY_TIERS.map(({ topic }) => topic)];
const REMEMBERED_SETTLEMENTS = 50_000;
const LONGEST_TIER_MS = Math.max(...RETRY_TIERS.map(({ delayMs }) => delayMs));
/**
 * Fan-outs that may wait for their tenant's turn, in multiples of the window. So the fan-outs of other tenants
 * behind them are read too. Each takes 3 KB.
 */
const WAITING_FAN_OUTS = 10;
/**
 * Time from the stop signal until the sources stop, milliseconds. Attempts with a longer timeout (30 s at most) are waited
 * for; then the sources get a third of it. What is in flight after that is repeated by the next owner.
 */
const STOP_MS = 15_000;

interface SourceParts extends DeliveryParts {
  readonly kafka: Kafka;
  readonly config: WorkerConfig;
  readonly scope: ServiceScope;
  /** The sources by name. Each source is added when it opens. */
  readonly sources: Map<string, Watched>;
  /** Functions that each stop one source, added when it opens. All are called at once, within the rest of `STOP_MS`. */
  readonly stops: ((deadlineMs: number) => Promise<void>)[];
  readonly delivering: Delivering;
  readonly budget: QuarantineBudget;
}

function watch(
  name: string,
  source: Watched & Pick<Source, 'stop'>,
  { sources, stops, scope }: SourceParts,
): void {
  sources.set(name, source);
  const unwatch = watchSource(name, source, scope);
  stops.push(async (deadlineMs) => {
    unwatch();
    scope.log.info('source stopped', { source: name, ...(await source.stop({ deadlineMs })) });
  });
}

/** Opens a source that is read while admission has capacity. */
async function openLiveSource(
  name: keyof typeof LIVE_TOPICS,
  handling: Pick<SourceOptions, 'handle' | 'onPoison'> & { readonly maxInFlight?: number },
  parts: SourceParts,
): Promise<void> {
  const { kafka, config, scope, delivering } = parts;
  const { waiting } = delivering;
  const { maxInFlight = config.maxInFlight, ...rest } = handling;
  const source = await openSource({
    ...rest,
    kafka,
    groupId: `${config.groupPrefix}.${name}`,
    topics: [LIVE_TOPICS[name]],
    window: { ...config, maxInFlight, hasCapacity: () => waiting.hasCapacity },
    onFatal: scope.fail,
  });
  waiting.onCapacity(() => source.resume());
  watch(name, source, parts);
}

async function openEventSource(parts: SourceParts): Promise<void> {
  const { cache, publish, attemptLog, observers, delivering, budget, scope } = parts;
  const ports: ConsumeEventPorts = {
    cache,
    publish,
    attemptLog,
    deliver: delivering.deliver,
    observe: observers.event,
    arrive: scope.tracing.arrive,
  };
  const onPoison = createQuarantine({
    quarantine: (record, fault) =>
      rejectEvent(record, { reason: NOT_HANDLED, violations: [{ property: '', reason: fault }] }, ports),
    log: scope.log,
    budget,
  });
  await openLiveSource('events', { handle: (record) => consumeEvent(record, ports), onPoison }, parts);
}

async function openTaskSources(parts: SourceParts): Promise<void> {
  const { kafka, config, scope, cache, publish, attemptLog, observers, delivering, budget } = parts;
  const { maxAgeMs } = config.schedule;
  const ports: ConsumeTaskPorts = {
    publish,
    deliver: delivering.deliver,
    settled: new SettledMemory(REMEMBERED_SETTLEMENTS),
    maxAgeMs,
    damaged: ({ topic, partition, offset }, reason) => {
      scope.log.error('a task cannot be read or handled', { topic, partition, offset, reason });
      observers.damaged();
    },
  };
  const onPoison = createQuarantine({
    quarantine: (record) => publishDamaged(record, NOT_HANDLED, ports),
    log: scope.log,
    budget,
  });
  const maxInFlight = WAITING_FAN_OUTS * config.maxInFlight;
  const turns = createSliceTurns(config.maxAttempts / SLICE_TASKS, maxInFlight);
  const fanOutPorts = { ...ports, cache, attemptLog, turns };
  const handleFanOut: SourceOptions['handle'] = (record, partition) =>
    consumeFanOut(record, { ...fanOutPorts, partition });
  // A task is due at its maximum age at the latest. The tier's delay allows for clock skew and for a previous,
  // longer setting.
  const maxWaitMs = maxAgeMs + LONGEST_TIER_MS;
  const retries = openDelayedSource({
    kafka,
    groupId: `${config.groupPrefix}.retries`,
    tiers: RETRY_TIERS,
    window: config,
    dueAt: (record) => dueAtOf({ [DUE_AT]: headerOf(record, DUE_AT) }),
    release: (record) => consumeTask(record, ports),
    move: (record) => moveTask(record, { ...ports, maxWaitMs }),
    onPoison,
    onFatal: scope.fail,
  });
  await Promise.all([
    retries.then((source) => watch('retries', source, parts)),
    openLiveSource('deliveries', { handle: (record) => consumeTask(record, ports), onPoison }, parts),
    openLiveSource('fan-outs', { handle: handleFanOut, maxInFlight, onPoison }, parts),
  ]);
}

function needsOf({ groupPrefix }: WorkerConfig): KafkaNeeds {
  const groups = ['retries', ...Object.keys(LIVE_TOPICS)].map((name) => `${groupPrefix}.${name}`);
  return { topics: TOPIC_TABLE, access: { topics: TOPIC_ACCESS['delivery-worker'], groups } };
}

/** What `check` looks at. */
export const checks = (config: WorkerConfig): Checks => ({
  kafka: checkKafka(config.kafka, needsOf(config)),
  'egress proxy': checkEgress(config.sending.egressProxy),
});

export async function composeDeliveryWorker(config: WorkerConfig, scope: ServiceScope): Promise<void> {
  const kafka = connectKafka(config.kafka, scope, RECORD_FORMAT);
  await prepareTopics(kafka, config.kafka, needsOf(config), scope);
  const sources: SourceParts['sources'] = new Map();
  const publish = await openPublisher(kafka, scope, () => sources.get('retries')?.missingTopics() ?? []);
  const cache = await openConfigurationCache(kafka, config.keyring, scope);
  const observers = createObservers(scope.registry, scope.log, config.successLogSample);
  const parts = { cache, publish, attemptLog: createAttemptLog(publish), observers };
  const delivering = composeDeliver(config, parts, scope);
  const stops: SourceParts['stops'] = [];
  // Before the sources, so that a stop does not wait for a frozen broker first.
  watchRetention({ kafka, topics: READ_TOPICS, sources }, scope);
  scope.onClose('sources', async (isOrderly) => {
    const endAt = performance.now() + STOP_MS;
    if (isOrderly) await delivering.drain();
    const leftMs = Math.max(endAt - performance.now(), STOP_MS / 3);
    await Promise.all(stops.map((stop) => stop(leftMs)));
  });
  const budget = createQuarantineBudget(scope.log);
  scope.health.readiness('quarantine', budget.fault, false);
  createSourceGauges(sources, scope);
  const sourceParts = { ...parts, kafka, config, scope, delivering, budget, sources, stops };
  // In parallel: each join waits up to 1.5 s for the other members of its group.
  await Promise.all([openTaskSources(sourceParts), openEventSource(sourceParts)]);
}
