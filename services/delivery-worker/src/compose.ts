import { RETRY_TIERS, TOPICS, TOPIC_TABLE, dueAtOf } from '@webhooks/contracts';
import type { DeliveryTask, RecordOrigin } from '@webhooks/contracts';
import {
  connectKafka,
  openDelayedSource,
  openSink,
  openSource,
  openTableReader,
  prepareTopics,
} from '@webhooks/kafka';
import type { Kafka } from '@webhooks/kafka';
import { createSender } from '@webhooks/outbound';
import { Gauge, errorFields } from '@webhooks/runtime';
import type { ServiceScope } from '@webhooks/runtime';
import { createAttemptLog } from './attempt-log.js';
import { attempt } from './attempt.js';
import type { WorkerConfig } from './config.js';
import { ConfigurationTable } from './configuration-table.js';
import { consumeEvent } from './consume-event.js';
import { consumeTask, moveTask } from './consume-task.js';
import type { ConsumeTaskPorts } from './consume-task.js';
import { currentConfiguration } from './current-configuration.js';
import { decide, park } from './decide.js';
import { deliver } from './deliver.js';
import { Slots } from './slots.js';
import { createObservers } from './observe.js';
import type { Observers } from './observe.js';
import { createPictureFeed } from './picture-feed.js';
import { createPicture } from './picture.js';
import type { Picture } from './picture.js';
import { createPublishSurely } from './publish-surely.js';
import type { PublishSurely } from './publish-surely.js';
import { rejectRecord } from './reject-record.js';
import { SettledMemory } from './settled-memory.js';
import { settle } from './settle.js';
import { createSourceGauges, watchSource } from './watch-source.js';
import type { SourceGauges } from './watch-source.js';

const REMEMBERED_SETTLEMENTS = 100_000;
const LARGE_FAN_OUTS = 4;

type DeliverTask = (task: DeliveryTask, source: RecordOrigin) => Promise<void>;

async function openPublisher(kafka: Kafka, scope: ServiceScope): Promise<PublishSurely> {
  const stopping = new AbortController();
  const sink = await openSink({ kafka });
  scope.onClose('sink', () => {
    stopping.abort();
    return sink.close();
  });
  scope.health.readiness('kafka sink', () => sink.health().lastError);
  return createPublishSurely(sink, scope.log, stopping.signal);
}

/** The picture of the configurations: complete before the first record is handled. */
async function openPicture(kafka: Kafka, config: WorkerConfig, scope: ServiceScope): Promise<Picture> {
  const table = new ConfigurationTable();
  const reader = await openTableReader({
    kafka,
    topic: TOPICS.configurations,
    onRecord: createPictureFeed(table, config.keyring, scope.log),
    onFatal: scope.fail,
  });
  scope.onClose('configuration reader', () => reader.close());
  const picture = createPicture(table, reader);
  scope.onClose('picture', () => {
    picture.close();
    return Promise.resolve();
  });
  scope.health.readiness('configurations', () =>
    picture.isFresh() ? undefined : 'the picture of the configurations is stale',
  );
  new Gauge({
    name: 'webhook_configurations',
    help: 'Configurations known to this worker',
    registers: [scope.registry],
    collect() {
      this.set(table.size);
    },
  });
  await reader.caughtUp;
  return picture;
}

interface DeliveryParts {
  readonly picture: Picture;
  readonly publish: PublishSurely;
  readonly observers: Observers;
}

function composeDeliver(config: WorkerConfig, parts: DeliveryParts, scope: ServiceScope): DeliverTask {
  const { picture, publish, observers } = parts;
  const attemptLog = createAttemptLog(publish);
  const sender = createSender({
    addresses: config.addresses,
    ...(config.endpointCaFile === undefined ? {} : { extraCaFile: config.endpointCaFile }),
    // As many as there are attempts: none waits inside the pool after its look at the configuration.
    connectionsPerOrigin: config.maxAttempts,
  });
  scope.onClose('sender', () => sender.close());
  const endpoints = new Slots(config.endpointConcurrency);
  const all = new Slots(config.maxAttempts);
  const keyOf = (task: DeliveryTask): string => `${task.tenantId}/${task.ref}`;
  const attemptOptions = { sender, userAgent: config.userAgent, vendorHeader: config.vendorHeader };
  const settlePorts = { publish, attemptLog, observe: observers.settled };
  const ports = {
    // The endpoint's slot first: whoever waits for a slow endpoint must not hold one of the slots of all.
    enter: async (task: DeliveryTask) => {
      await endpoints.enter(keyOf(task));
      await all.enter('');
    },
    leave: (task: DeliveryTask) => {
      all.leave('');
      endpoints.leave(keyOf(task));
    },
    current: (task: DeliveryTask) => currentConfiguration(task, picture),
    attempt: (task: DeliveryTask, configuration: Parameters<typeof attempt>[1]) =>
      attempt(task, configuration, attemptOptions),
    decide: (outcome: Parameters<typeof decide>[0], task: DeliveryTask) =>
      decide(outcome, { ...task, now: Date.now(), schedule: config.schedule, random: Math.random() }),
    park: (task: DeliveryTask, fault: unknown) => {
      scope.log.error('an attempt could not be made', {
        ref: task.ref,
        deliveryId: task.deliveryId,
        ...errorFields(fault),
      });
      return park(task.parkedCount, { ...task, now: Date.now(), schedule: config.schedule });
    },
    settle: (settled: Parameters<typeof settle>[0]) => settle(settled, settlePorts),
  };
  return (task, source) => deliver(task, source, ports);
}

interface SourceParts extends DeliveryParts {
  readonly gauges: SourceGauges;
  /** Filled with how to stop each source; they stop side by side, each within its own drain. */
  readonly stops: (() => Promise<void>)[];
  readonly deliverTask: DeliverTask;
}

async function openEventSource(
  kafka: Kafka,
  config: WorkerConfig,
  parts: SourceParts,
  scope: ServiceScope,
): Promise<void> {
  const { picture, publish, observers, deliverTask } = parts;
  const ports = {
    picture,
    publish,
    deliver: deliverTask,
    reject: (record: Parameters<typeof rejectRecord>[0], why: Parameters<typeof rejectRecord>[1]) =>
      rejectRecord(record, why, publish),
    observe: observers.event,
    largeFanOuts: new Slots(LARGE_FAN_OUTS),
  };
  const source = await openSource({
    kafka,
    groupId: `${config.groupPrefix}.events`,
    topics: [TOPICS.events],
    window: config,
    handle: (record) => consumeEvent(record, ports),
    onFatal: scope.fail,
  });
  parts.stops.push(watchSource('events', source, parts.gauges, scope));
}

async function openTaskSources(
  kafka: Kafka,
  config: WorkerConfig,
  parts: SourceParts,
  scope: ServiceScope,
): Promise<void> {
  const ports: ConsumeTaskPorts = {
    publish: parts.publish,
    deliver: parts.deliverTask,
    settled: new SettledMemory(REMEMBERED_SETTLEMENTS),
    damaged: (record, reason) => {
      scope.log.error('a task could not be read', {
        topic: record.topic,
        partition: record.partition,
        offset: record.offset,
        reason,
      });
      parts.observers.damaged();
    },
  };
  const retries = await openDelayedSource({
    kafka,
    groupId: `${config.groupPrefix}.retries`,
    tiers: RETRY_TIERS,
    window: config,
    dueAt: (record) => dueAtOf(record.headers),
    release: (record) => consumeTask(record, ports),
    move: (record, remainingMs) => moveTask(record, remainingMs, ports),
    onFatal: scope.fail,
  });
  parts.stops.push(watchSource('retries', retries, parts.gauges, scope));
  const deliveries = await openSource({
    kafka,
    groupId: `${config.groupPrefix}.deliveries`,
    topics: [TOPICS.deliveries],
    window: config,
    handle: (record) => consumeTask(record, ports),
    onFatal: scope.fail,
  });
  parts.stops.push(watchSource('deliveries', deliveries, parts.gauges, scope));
}

export async function composeDeliveryWorker(config: WorkerConfig, scope: ServiceScope): Promise<void> {
  const kafka = connectKafka(config.kafka, scope);
  await prepareTopics(kafka, config.kafka, TOPIC_TABLE);
  const publish = await openPublisher(kafka, scope);
  const picture = await openPicture(kafka, config, scope);
  const observers = createObservers(scope.registry, scope.log, config.successLogSample);
  const parts = { picture, publish, observers };
  const deliverTask = composeDeliver(config, parts, scope);
  const stops: (() => Promise<void>)[] = [];
  scope.onClose('sources', async () => {
    await Promise.all(stops.map((stop) => stop()));
  });
  const sourceParts = { ...parts, deliverTask, gauges: createSourceGauges(scope), stops };
  await openTaskSources(kafka, config, sourceParts, scope);
  await openEventSource(kafka, config, sourceParts, scope);
}
