import { performance } from 'node:perf_hooks';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';
import { within } from '../deadline.js';
import { sendHeartbeat } from './heartbeat.js';
import type { Logger } from '../log.js';
import { committedOffsets, type AssignedPartition } from './membership-offsets.js';
import { removeNamesakes } from './namesakes.js';
import { stickyAssigner, type Holding } from './sticky-assigner.js';
import { backoffMs } from './backoff.js';
import type { Link } from './connect.js';
import { faultOf, isFatal } from './faults.js';
import { asError } from '../protocol/errors.js';

export interface MembershipOptions {
  readonly link: Link;
  /** Connections of their own, to leave while `link` waits for the answer to a join. */
  readonly openLink: () => Link;
  readonly log: Logger;
  readonly groupId: string;
  /** By which a process finds its predecessor in the group: no two that live have the same. */
  readonly clientId: string;
  readonly topics: readonly string[];
  readonly giveUpAfterMs: number;
  readonly onAssigned: (partitions: readonly AssignedPartition[]) => void;
  /** A rebalance began: stop handing out records, and settle and commit what can be settled soon. */
  readonly onRebalance: () => Promise<void>;
  readonly onHeartbeat: () => void;
  readonly onError: (error: unknown) => void;
  readonly onFatal: (error: Error) => void;
}

export interface CommitRequest {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** The least that brokers allow (`group.min.session.timeout.ms`): who is killed and does not come back is replaced after it. */
const SESSION_TIMEOUT_MS = 6_000;
const REBALANCE_TIMEOUT_MS = 15_000;
/** A rebalance is heard of with a heartbeat, and may wait a second for what is in flight: together well below 2 s. */
const HEARTBEAT_MS = 500;
const LEAVE_TIMEOUT_MS = 1_000;
const REJOIN = new Set(['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'NOT_COORDINATOR_FOR_GROUP']);

/** Joins that the next rebalance may outrun, one after the other, before that is a fault. */
const QUIET_REJOINS = 5;

/** The group rebalanced again, or forgot us, while we joined: kafkajs would try again, if it were allowed to (`retry`). */
const isOutrun = (error: unknown): boolean => faultOf(error).name === 'KafkaJSNumberOfRetriesExceeded';

/**
 * Our place in a consumer group: join, heartbeat from a timer of its own (not from whoever handles records), rejoin after
 * anything, until it is left. kafkajs' consumer group speaks the protocol; its runner, with its crashes, is not used.
 */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #group: ConsumerGroup;
  #joined = false;
  #stopped = false;
  #gaveUp = false;
  #holding: Holding = { generation: -1, partitions: {} };
  #lastJoinedAt = performance.now();
  #poke: (() => void) | undefined;
  #onFirstJoin: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #isAlone = false;

  constructor(options: MembershipOptions) {
    this.#options = options;
    const { cluster, logger } = options.link;
    const partitionsOf = (topic: string) =>
      cluster
        .findTopicPartitionMetadata(topic)
        .map(({ partitionId }) => partitionId)
        .sort((a, b) => a - b);
    const assigner = stickyAssigner({ partitionsOf, holding: () => this.#holding });
    this.#group = new ConsumerGroup({
      cluster,
      logger,
      groupId: options.groupId,
      topics: [...options.topics],
      topicConfigurations: Object.fromEntries(
        options.topics.map((topic) => [topic, { fromBeginning: true }]),
      ),
      // Tried again here: kafkajs would go on joining, under a new id, after this member has left.
      retry: { retries: 0 },
      instrumentationEmitter: { emit: () => undefined },
      assigners: [assigner],
      sessionTimeout: SESSION_TIMEOUT_MS,
      rebalanceTimeout: REBALANCE_TIMEOUT_MS,
      autoCommit: false,
    });
  }

  get joined(): boolean {
    return this.#joined;
  }

  /** Resolves with the first assignment; rejects when that cannot come. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onFirstJoin = { resolve, reject };
      this.#run().catch(reject);
    });
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#ended();) {
      try {
        await this.#join();
        failures = 0;
        await this.#heartbeatUntilTrouble();
        this.#joined = false;
        if (!this.#ended()) await this.#options.onRebalance();
      } catch (error) {
        this.#joined = false;
        failures += 1;
        if (!this.#ended()) await this.#failed(error, failures);
      }
    }
  }

  #ended(): boolean {
    return this.#stopped || this.#gaveUp;
  }

  async #join(): Promise<void> {
    const { link, topics, log, groupId } = this.#options;
    await link.cluster.connect();
    await link.cluster.addMultipleTargetTopics(topics);
    await this.#replaceNamesakes();
    if (this.#ended()) return;
    await this.#group.joinAndSync();
    const assigned = this.#group.assigned();
    const partitions = await committedOffsets(link.cluster, this.#group, { groupId, assigned });
    if (this.#ended()) return this.#group.leave();
    const held = Object.fromEntries(assigned.map(({ topic, partitions: list }) => [topic, list]));
    this.#holding = { generation: this.#group.generationId ?? -1, partitions: held };
    this.#joined = true;
    this.#lastJoinedAt = performance.now();
    log('info', 'kafka: joined a group', { groupId, partitions: partitions.length });
    this.#options.onAssigned(partitions);
    this.#onFirstJoin?.resolve();
  }

  /** Once: two live processes of one name remove each other at their starts, and then both stay. */
  async #replaceNamesakes(): Promise<void> {
    if (this.#isAlone) return;
    const { link, log, groupId, clientId } = this.#options;
    const removed = await removeNamesakes(link.cluster, { groupId, clientId });
    this.#isAlone = true;
    // It was killed; or two processes have this client id by mistake.
    if (removed > 0) log('warn', 'kafka: replaced a member of this client id', { groupId, clientId });
  }

  async #failed(error: unknown, failures: number): Promise<void> {
    const { onError, onFatal, log, groupId, giveUpAfterMs } = this.#options;
    if (failures <= QUIET_REJOINS && isOutrun(error)) return this.#pause(backoffMs(1));
    onError(error);
    log('warn', 'kafka: could not join a group', { groupId, failures, ...faultOf(error) });
    const awayMs = performance.now() - this.#lastJoinedAt;
    if (isFatal(error) || awayMs > giveUpAfterMs) {
      this.#gaveUp = true;
      const fatal = new Error(`group ${groupId}: ${asError(error).message}`, { cause: error });
      this.#onFirstJoin?.reject(fatal);
      onFatal(fatal);
      return;
    }
    await this.#pause(backoffMs(failures));
  }

  /** Returns when the group has to be joined again. A broker that is away for a moment is no reason. */
  async #heartbeatUntilTrouble(): Promise<void> {
    let answeredAt = performance.now();
    for (;;) {
      await this.#pause(HEARTBEAT_MS);
      if (this.#ended()) return;
      try {
        this.#group.checkForStaleAssignment();
        await sendHeartbeat(this.#group, this.#options.groupId);
        answeredAt = performance.now();
        this.#lastJoinedAt = answeredAt;
        this.#options.onHeartbeat();
      } catch (error) {
        this.#options.onError(error);
        if (this.#mustRejoin(error) || performance.now() - answeredAt > SESSION_TIMEOUT_MS) return;
      }
    }
  }

  #mustRejoin(error: unknown): boolean {
    const { type, name } = faultOf(error);
    if (type === 'UNKNOWN_MEMBER_ID') this.#group.memberId = null;
    return (
      REJOIN.has(type ?? '') || type === 'UNKNOWN_MEMBER_ID' || name === 'KafkaJSStaleTopicMetadataAssignment'
    );
  }

  /** Waits, or less when something happened that a heartbeat will explain. */
  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#poke = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#poke = undefined;
  }

  /** Rejects when the coordinator did not take the offsets; a lost membership is looked into at once. */
  async commit(requests: readonly CommitRequest[]): Promise<void> {
    const byTopic = new Map<string, { partition: number; offset: string }[]>();
    for (const { topic, partition, offset } of requests) {
      const list = byTopic.get(topic) ?? [];
      list.push({ partition, offset: String(offset) });
      byTopic.set(topic, list);
    }
    const topics = [...byTopic].map(([topic, partitions]) => ({ topic, partitions }));
    try {
      await this.#group.commitOffsets({ topics });
    } catch (error) {
      this.#poke?.();
      throw error;
    }
  }

  /** Leaves the group, joined or not, so that others take over at once. Bounded; never rejects. */
  async leave(): Promise<void> {
    this.#stopped = true;
    this.#poke?.();
    this.#onFirstJoin?.reject(new Error('stopped before the group was joined'));
    await within(this.#leave(), LEAVE_TIMEOUT_MS).catch(() => undefined);
    this.#joined = false;
  }

  async #leave(): Promise<void> {
    if (this.#joined) return this.#group.leave();
    // A broker answers a connection in order, and a join only when all members have joined.
    const link = this.#options.openLink();
    try {
      await link.cluster.connect();
      await removeNamesakes(link.cluster, this.#options);
    } finally {
      await link.close();
    }
  }
}
