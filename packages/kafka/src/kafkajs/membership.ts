import { setTimeout as delay } from 'node:timers/promises';
import type Cluster from 'kafkajs/src/cluster/index.js';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';
import { within, backoffMs } from '../retry.js';
import { asError, fatalError, faultOf, isFatal } from '../faults.js';
import type { TopicPartition } from '../record.js';
import type { SourceOptions } from '../source/source-types.js';
import type { Connections } from './connections.js';
import { stickyAssigner, type Holding } from '../source/sticky-assigner.js';
import { FATAL_AFTER_MS, HANDOVER_GRACE_MS, HEARTBEAT_MS, SESSION_TIMEOUT_MS } from '../limits.js';

/** The committed position of a group on a partition. */
export interface GroupPosition extends TopicPartition {
  /** Everything before this offset is handled; -1 when the group has committed nothing. */
  readonly offset: number;
  /**
   * Timestamp of the record at the offset, or of the last one before it (Unix milliseconds); undefined when unknown.
   */
  readonly at: number | undefined;
}

export interface MembershipOptions extends Pick<
  SourceOptions,
  'kafka' | 'groupId' | 'topics' | 'fatalAfterMs' | 'onFatal'
> {
  readonly connections: Connections;
  readonly onAssigned: (positions: readonly GroupPosition[]) => void;
  /**
   * Called when a rebalance begins: hand out no more records, and commit the settled ones within
   * `HANDOVER_GRACE_MS`.
   */
  readonly onRebalance: () => Promise<void>;
  readonly onHeartbeat: () => void;
  readonly onError: (error: unknown) => void;
}

const REJOIN = new Set(['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'NOT_COORDINATOR_FOR_GROUP']);

/**
 * Membership of this process in a consumer group: joins, sends heartbeats on its own timer, and rejoins after any
 * fault until it leaves. It uses kafkajs' implementation of the group protocol, but not kafkajs' runner, which may
 * crash.
 */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #group: ConsumerGroup;
  readonly #firstJoin = Promise.withResolvers<true>();
  joined = false;
  /** Topics that Kafka does not know, or shows to others only. The source reads the rest. */
  missing: readonly string[] = [];
  #stopped = false;
  #holding: Holding = { generation: -1, partitions: {} };
  /** When the coordinator last confirmed the membership, by `performance.now()`. */
  #confirmedAt = performance.now();
  #hasReplacedNamesakes = false;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#firstJoin.promise.catch(() => undefined); // `start` returns it
    const { cluster, logger } = options.connections;
    const partitionsOf = (topic: string) =>
      cluster
        .findTopicPartitionMetadata(topic)
        .map(({ partitionId }) => partitionId)
        .sort((a, b) => a - b);
    this.#group = new ConsumerGroup({
      cluster,
      logger,
      groupId: options.groupId,
      topics: [...options.topics],
      topicConfigurations: {},
      // Retried here: kafkajs would continue to join, under a new id, after this member has left.
      retry: { retries: 0 },
      instrumentationEmitter: { emit: () => undefined },
      assigners: [stickyAssigner(() => this.#holding, partitionsOf)],
      sessionTimeout: SESSION_TIMEOUT_MS,
      rebalanceTimeout: SESSION_TIMEOUT_MS,
      autoCommit: false,
    });
  }

  /** Resolves with the first assignment. Rejects when the group cannot be joined, or `leave` is called first. */
  start(): Promise<true> {
    this.#run().catch((error: unknown) => {
      this.#firstJoin.reject(error);
      this.#options.onFatal?.(asError(error));
    });
    return this.#firstJoin.promise;
  }

  /** Runs until the group is left. Rejects when a retry cannot help, or when no retry succeeded for `fatalAfterMs`. */
  async #run(): Promise<void> {
    for (let failures = 0; !this.#stopped;) {
      try {
        await this.#join();
        failures = 0;
        const isLost = await this.#heartbeatUntilTrouble();
        this.joined = false;
        if (isLost) await this.#options.onRebalance();
      } catch (error) {
        failures += 1;
        this.#failed(error, failures);
        await delay(backoffMs(failures));
      }
    }
  }

  async #join(): Promise<void> {
    const { kafka, connections, topics, groupId } = this.#options;
    await connections.cluster.connect();
    await connections.cluster.addMultipleTargetTopics(topics);
    await connections.cluster.refreshMetadata();
    this.#group.topicsSubscribed = this.#existingTopics();
    if (this.missing.length === topics.length) throw new Error(`no metadata of ${topics.join(', ')}`);
    await this.#replaceNamesakes();
    await this.#group.joinAndSync();
    const assigned = this.#group.assigned();
    const positions = await this.#fetchPositions(assigned);
    if (this.#stopped) return this.#group.leave();
    const held = Object.fromEntries(assigned.map(({ topic, partitions }) => [topic, partitions]));
    this.#holding = { generation: this.#group.generationId ?? -1, partitions: held };
    this.#confirmedAt = performance.now();
    kafka.log('info', 'kafka: joined a group', { groupId, partitions: positions.length });
    this.#options.onAssigned(positions);
    this.joined = true;
    this.#firstJoin.resolve(true);
  }

  #existingTopics(): string[] {
    const { connections, topics } = this.#options;
    const exists = (topic: string) => connections.cluster.findTopicPartitionMetadata(topic).length > 0;
    this.missing = topics.filter((topic) => !exists(topic));
    return topics.filter(exists);
  }

  /**
   * Removes other members of this client id. Runs only once: two live processes of one client id remove each other
   * when they start, and then both stay.
   */
  async #replaceNamesakes(): Promise<void> {
    if (this.#hasReplacedNamesakes) return;
    const { connections, groupId, kafka } = this.#options;
    const removed = await this.#removeNamesakes(connections.cluster);
    this.#hasReplacedNamesakes = true;
    if (this.#stopped) throw new Error('stopped before the group was joined');
    // Either the removed member was killed, or two processes have this client id by mistake.
    const fields = { groupId, clientId: kafka.clientId };
    if (removed > 0) kafka.log('warn', 'kafka: replaced a member of this client id', fields);
  }

  #failed(error: unknown, failures: number): void {
    const { onError, kafka, groupId, fatalAfterMs = FATAL_AFTER_MS } = this.#options;
    if (this.#stopped) return;
    if (isFatal(error) || performance.now() - this.#confirmedAt > fatalAfterMs)
      throw new Error(`group ${groupId}: ${asError(error).message}`, { cause: error });
    // The group rebalanced or removed this member during the join. kafkajs would retry, but `retry` forbids it.
    if (faultOf(error).name === 'KafkaJSNumberOfRetriesExceeded') return;
    onError(error);
    kafka.log('warn', 'kafka: could not join a group', { groupId, failures, ...faultOf(error) });
  }

  /**
   * Resolves with true when the group must be joined again, and with false when it was left. A short outage of the
   * coordinator does not end the wait.
   */
  async #heartbeatUntilTrouble(): Promise<boolean> {
    for (;;) {
      await delay(HEARTBEAT_MS);
      if (this.#stopped) return false;
      try {
        // `-Infinity` always sends one. After the clock was set back, kafkajs' own interval would send none for that
        // long.
        await this.#group.heartbeat({ interval: -Infinity });
        this.#confirmedAt = performance.now();
        this.#options.onHeartbeat();
        this.#group.checkForStaleAssignment();
        if (this.#existingTopics().length !== this.#group.topicsSubscribed.length) return true;
      } catch (error) {
        this.#options.onError(error);
        if (this.#mustRejoin(error)) return true;
      }
    }
  }

  #mustRejoin(error: unknown): boolean {
    const { type = '', name } = faultOf(error);
    const isForgotten = type === 'UNKNOWN_MEMBER_ID';
    if (isForgotten) this.#group.memberId = null;
    const isExpired = performance.now() - this.#confirmedAt > SESSION_TIMEOUT_MS;
    return isForgotten || isExpired || REJOIN.has(type) || name === 'KafkaJSStaleTopicMetadataAssignment';
  }

  /**
   * Commits positions. Rejects when the coordinator did not accept them. The commit's metadata stores the format of
   * the records and the time.
   */
  async commit(positions: readonly GroupPosition[]): Promise<void> {
    const { format } = this.#options.kafka;
    // Each partition has its own topic entry, which coordinators accept.
    const topics = positions.map(({ topic, partition, offset, at }) => ({
      topic,
      partitions: [{ partition, offset: String(offset), metadata: `${format}:${at ?? ''}` }],
    }));
    await this.#group.commitOffsets({ topics });
  }

  /** Fetches the time of the group's committed position on a partition; undefined without a position or a time. */
  async positionTime({ topic, partition }: TopicPartition): Promise<number | undefined> {
    const [position] = await this.#fetchPositions([{ topic, partitions: [partition] }]);
    return position?.at;
  }

  /**
   * Leaves the group, joined or not, so that other members take over at once. Resolves within `HANDOVER_GRACE_MS`;
   * never rejects.
   */
  async leave(): Promise<void> {
    this.#stopped = true;
    this.#firstJoin.reject(new Error('stopped before the group was joined'));
    await within(this.#leave(), HANDOVER_GRACE_MS).catch(() => undefined);
    this.joined = false;
  }

  async #leave(): Promise<void> {
    if (this.joined) return this.#group.leave();
    // A new connection: a broker responds in order on a connection, and delays the response to a join until all
    // members have joined.
    const connections = this.#options.kafka.openConnections(SESSION_TIMEOUT_MS);
    try {
      await this.#removeNamesakes(connections.cluster);
    } finally {
      await connections.close();
    }
  }

  /** Fetches the group's committed position on each of these partitions. */
  async #fetchPositions(assigned: ReturnType<ConsumerGroup['assigned']>): Promise<GroupPosition[]> {
    if (assigned.length === 0) return [];
    const { connections, groupId } = this.#options;
    const coordinator = await connections.cluster.findGroupCoordinator({ groupId });
    const topics = assigned.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map((partition) => ({ partition })),
    }));
    const { responses } = await coordinator.offsetFetch({ groupId, topics });
    return responses.flatMap(({ topic, partitions }) =>
      partitions.map(({ partition, offset, metadata }) => ({
        topic,
        partition,
        offset: Number(offset),
        at: this.#timeOf(metadata ?? ''),
      })),
    );
  }

  /**
   * Parses the time from a commit's metadata. Undefined for a commit of another program, which has no metadata.
   * Throws for another format of records.
   */
  #timeOf(metadata: string): number | undefined {
    const { kafka, groupId } = this.#options;
    const [format, at] = metadata.split(':');
    if (metadata !== '' && format !== kafka.format)
      throw fatalError(
        'OTHER_RECORD_FORMAT',
        `group ${groupId} read records of another format: delete .data, or create new topics in a cluster`,
      );
    return Number(at) || undefined;
  }

  /**
   * Removes the group's members of this client id, so that a rebalance does not wait for their sessions to expire.
   * Returns how many.
   */
  async #removeNamesakes(cluster: Cluster): Promise<number> {
    const { groupId, kafka } = this.#options;
    await cluster.connect();
    const coordinator = await cluster.findGroupCoordinator({ groupId });
    const { groups } = await coordinator.describeGroups({ groupIds: [groupId] });
    const namesakes = groups
      .flatMap(({ members }) => members)
      .filter(({ clientId }) => clientId === kafka.clientId);
    for (const { memberId } of namesakes) await coordinator.leaveGroup({ groupId, memberId });
    return namesakes.length;
  }
}
