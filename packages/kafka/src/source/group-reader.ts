import { createLogThrottle, shareNext } from '@webhooks/runtime';
import type { InFlight } from './in-flight.js';
import { faultOf } from '../faults.js';
import { until, within } from '../retry.js';
import type { Connections } from '../kafkajs/connections.js';
import { Fetcher } from './fetcher.js';
import { Membership, type GroupPosition } from '../kafkajs/membership.js';
import { listOffsets } from '../kafkajs/topics.js';
import { PartitionTracker, type TrackerOptions } from './partition-tracker.js';
import type { PartitionPosition, SourceOptions } from './source-types.js';
import { COMMIT_INTERVAL_MS, HANDOVER_GRACE_MS, SOURCE_METADATA_MS } from '../limits.js';

export interface GroupReaderOptions extends SourceOptions, TrackerOptions {
  /** Shortest time between two fetches from one broker, milliseconds. */
  readonly fetchIntervalMs: number;
  /** Longest wait of a broker for records, milliseconds. */
  readonly fetchWaitMs: number;
  readonly inFlight: InFlight;
  /** Called after each assignment of partitions. */
  readonly onReassigned: () => void;
}

/**
 * Joins a group, fetches the assigned partitions and commits the committable offset of each. The turn scheduler
 * hands out the records.
 */
export class GroupReader {
  readonly #options: GroupReaderOptions;
  readonly #connections: Connections;
  readonly fetcher: Fetcher;
  readonly #membership: Membership;
  readonly #onError: (error: unknown) => void;
  readonly missingTopics = () => this.#membership.missing;
  #trackers: readonly PartitionTracker[] = [];
  #commitTimer: NodeJS.Timeout | undefined;
  #committing: Promise<void> | undefined;
  #settled = false;
  readonly #throttle = createLogThrottle();

  constructor(options: GroupReaderOptions) {
    this.#options = options;
    this.#onError = (error) => options.inFlight.failed(error);
    this.#connections = options.kafka.openConnections(SOURCE_METADATA_MS);
    const readEnds = shareNext(() => this.#readEnds());
    this.#membership = new Membership({
      ...options,
      connections: this.#connections,
      onAssigned: (positions) => this.#onAssigned(positions),
      onRebalance: () => this.#onRebalance(),
      onHeartbeat: () => void readEnds().catch(this.#onError),
      onError: this.#onError,
    });
    this.fetcher = new Fetcher({
      connections: this.#connections,
      feeds: () => this.#trackers,
      maxWaitMs: options.fetchWaitMs,
      minIntervalMs: options.fetchIntervalMs,
      positionTime: (feed) => this.#membership.positionTime(feed),
      onResponse: () => options.inFlight.responded(),
      onError: this.#onError,
    });
  }

  /** Resolves with the first assignment. Rejects when the reader is closed first, or the group cannot be joined. */
  async start(): Promise<void> {
    await this.#membership.start();
    const { log } = this.#connections;
    this.#commitTimer = setInterval(() => {
      const isFree = this.#settled && this.#committing === undefined;
      if (isFree && this.#trackers.some(({ hasMoved }) => hasMoved))
        this.#commit().catch((error: unknown) => {
          this.#onError(error);
          // After a crash everything since the last commit is repeated.
          this.#throttle(() => log('warn', 'kafka: positions could not be committed', faultOf(error)));
        });
    }, COMMIT_INTERVAL_MS);
  }

  /** The partitions whose records may be handed out; none while the group rebalances. */
  get trackers(): readonly PartitionTracker[] {
    return this.#settled ? this.#trackers : [];
  }

  #onAssigned(positions: readonly GroupPosition[]): void {
    const before = this.#trackers;
    this.#trackers = positions.map((position) => {
      const { topic, partition, offset } = position;
      const held = before.find((tracker) => tracker.topic === topic && tracker.partition === partition);
      // A different position means that another process continued the partition, or that the topic was recreated.
      // Then the tracker is replaced.
      return held?.committed === offset ? held : new PartitionTracker(position, this.#options);
    });
    for (const tracker of before) if (!this.#trackers.includes(tracker)) tracker.unassign();
    this.#settled = true;
    this.#options.onReassigned();
  }

  async #onRebalance(): Promise<void> {
    this.#settled = false;
    await until(() => this.#options.inFlight.records === 0, HANDOVER_GRACE_MS);
    await within(this.#commit(), HANDOVER_GRACE_MS).catch(this.#onError);
  }

  /**
   * Requests the end of each partition that no fetch has reported since the last heartbeat. So lag and age stay
   * correct.
   */
  async #readEnds(): Promise<void> {
    const full = this.#trackers.filter((tracker) => tracker.fetchOffset() === undefined);
    // A reader whose partitions are all full, or that has none, fetches nothing. Then its heartbeats count as
    // progress.
    if (full.length === this.#trackers.length) this.#options.inFlight.responded();
    const unfetched = this.#trackers.filter(({ isUnfetched }) => isUnfetched);
    for (const tracker of this.#trackers) tracker.isUnfetched = true;
    for (const [topic, trackers] of Map.groupBy(unfetched, (tracker) => tracker.topic)) {
      const partitions = trackers.map(({ partition }) => partition);
      const ends = await listOffsets(this.#connections, topic, partitions);
      for (const one of trackers) one.updateHighWatermark(ends.get(one.partition) ?? one.highWatermark);
    }
  }

  /** Commits each committable offset that is not committed yet. Waits for a commit in flight first. */
  async #commit(): Promise<void> {
    await this.#committing?.catch(() => undefined);
    this.#committing = this.#commitMoved().finally(() => {
      this.#committing = undefined;
    });
    return this.#committing;
  }

  async #commitMoved(): Promise<void> {
    if (this.#options.commits === false) return;
    const moved = this.#trackers
      .filter(({ hasMoved }) => hasMoved)
      .map((tracker) => ({ tracker, position: tracker.groupPosition }));
    if (moved.length === 0) return;
    await this.#membership.commit(moved.map(({ position }) => position));
    for (const { tracker, position } of moved) tracker.acknowledge(position);
  }

  /** The committable offset of each assigned partition. */
  positions(): readonly PartitionPosition[] {
    return this.#trackers.map(({ topic, partition, committable: offset }) => ({ topic, partition, offset }));
  }

  /** The state of the membership, and the lag of the assigned partitions. */
  health() {
    const now = Date.now();
    const oldestAgeByTopic: Record<string, number> = {};
    const lagByPartition: Record<string, number> = {};
    for (const { topic, partition, highWatermark, committable, oldestAt = now } of this.#trackers) {
      oldestAgeByTopic[topic] = Math.max(oldestAgeByTopic[topic] ?? 0, now - oldestAt);
      lagByPartition[`${topic}/${partition}`] = Math.max(0, highWatermark - committable);
    }
    return {
      joined: this.#membership.joined,
      /** Offsets between the committable offset and the end of each assigned partition, by `topic/partition`. */
      lagByPartition,
      /** Sum of `lagByPartition`. */
      lag: Object.values(lagByPartition).reduce((sum, lag) => sum + lag, 0),
      /**
       * Age of the oldest unhandled record since its append, milliseconds; 0 without one. When no fetch returns that
       * record (an open transaction, a failing partition): since when the log has ended beyond the last fetch.
       */
      oldestAgeMs: Math.max(0, ...Object.values(oldestAgeByTopic)),
      /** `oldestAgeMs` for each topic with an assigned partition. */
      oldestAgeByTopic,
    };
  }

  /**
   * Commits (within `commitMs`), leaves the group and disconnects. Resolves with true when the commit was
   * acknowledged. Until this call commits continue, so that a process killed while it drains repeats few records.
   */
  async close(commitMs: number): Promise<boolean> {
    clearInterval(this.#commitTimer);
    const committed = await within(
      this.#commit().then(() => true),
      commitMs,
    ).catch(this.#onError);
    await this.#membership.leave();
    for (const tracker of this.#trackers) tracker.unassign();
    this.fetcher.stop();
    await this.#connections.close();
    return committed ?? false;
  }
}
