import type { InFlight } from './in-flight.js';
import { until, within } from '../retry.js';
import type { Link } from '../kafkajs/link.js';
import { openLinkOf } from '../kafkajs/create-kafka.js';
import { Fetcher } from './fetcher.js';
import { HANDOVER_GRACE_MS, Membership, type GroupPosition } from '../kafkajs/membership.js';
import { listOffsets } from '../kafkajs/topics.js';
import { PartitionTracker, type TrackerOptions } from './partition-tracker.js';
import type { PartitionPosition, SourceOptions } from './source-types.js';

export interface GroupReaderOptions extends SourceOptions, TrackerOptions {
  /** From one fetch of a broker to the next, at least. */
  readonly fetchIntervalMs: number;
  readonly inFlight: InFlight;
  /** Partitions came or went. */
  readonly onReassigned: () => void;
}

/** What was settled since is repeated after a kill: 50 of 1,000 a second in the mean. It takes 0.6 % of a core more than a second would. */
const COMMIT_INTERVAL_MS = 100;
/** New partitions and moved leaders are noticed after that. */
const METADATA_MAX_AGE_MS = 10_000;
/** Of a fetch that finds nothing: four requests a second of an idle source. */
const FETCH_WAIT_MS = 250;

/** Membership, fetching and commits of a group: all of a source but the handing out of records. */
export class GroupReader {
  readonly #options: GroupReaderOptions;
  readonly #link: Link;
  readonly #fetcher: Fetcher;
  readonly #membership: Membership;
  readonly #onError: (error: unknown) => void;
  readonly missingTopics = () => this.#membership.missing;
  #trackers: readonly PartitionTracker[] = [];
  #commitTimer: NodeJS.Timeout | undefined;
  #committing: Promise<void> | undefined;
  #settled = false;
  #rebalances = 0;

  constructor(options: GroupReaderOptions) {
    this.#options = options;
    this.#onError = (error) => options.inFlight.failed(error);
    this.#link = openLinkOf(options.kafka, METADATA_MAX_AGE_MS);
    this.#membership = new Membership({
      ...options,
      link: this.#link,
      onAssigned: (positions) => this.#onAssigned(positions),
      onRebalance: () => this.#onRebalance(),
      onHeartbeat: () => void this.#readEnds().catch(this.#onError),
      onError: this.#onError,
    });
    this.#fetcher = new Fetcher({
      link: this.#link,
      log: options.kafka.log,
      feeds: () => this.#trackers,
      maxWaitMs: FETCH_WAIT_MS,
      minIntervalMs: options.fetchIntervalMs,
      metadataMaxAgeMs: METADATA_MAX_AGE_MS,
      positionTime: (feed) => this.#membership.positionTime(feed),
      onResponse: () => options.inFlight.responded(),
      onError: this.#onError,
    });
  }

  /** Resolves with the first assignment; rejects when it is closed before. */
  async start(): Promise<void> {
    await this.#membership.start();
    this.#commitTimer = setInterval(() => {
      if (this.#settled && this.#committing === undefined) this.#commit().catch(this.#onError);
    }, COMMIT_INTERVAL_MS);
  }

  /** The partitions to hand out from; none while the group rebalances. */
  get trackers(): readonly PartitionTracker[] {
    return this.#settled ? this.#trackers : [];
  }

  /** There may be something to fetch again. */
  kick(): void {
    this.#fetcher.kick();
  }

  #onAssigned(positions: readonly GroupPosition[]): void {
    this.#rebalances += 1;
    const before = this.#trackers;
    this.#trackers = positions.map((position) => {
      const { topic, partition, offset } = position;
      const held = before.find((tracker) => tracker.topic === topic && tracker.partition === partition);
      // Else another process had it meanwhile, or the topic was made anew: nothing known holds any more.
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

  /** A partition that is full is not fetched, and a fetch may fail: then its end is requested, so that lag and age are true. */
  async #readEnds(): Promise<void> {
    const full = this.#trackers.filter((tracker) => tracker.want() === undefined);
    // Nothing is fetched for a reader that is full or without partitions: its heartbeats are its progress.
    if (full.length === this.#trackers.length) this.#options.inFlight.responded();
    const unfetched = this.#trackers.filter(({ isUnfetched }) => isUnfetched);
    for (const tracker of this.#trackers) tracker.isUnfetched = true;
    for (const [topic, trackers] of Map.groupBy(unfetched, (tracker) => tracker.topic)) {
      const partitions = trackers.map(({ partition }) => partition);
      const ends = await listOffsets(this.#link, topic, partitions);
      for (const one of trackers) one.sawEnd(ends.get(one.partition) ?? one.highWatermark);
    }
  }

  /** Commits each watermark that moved, after the request that is under way. */
  async #commit(): Promise<void> {
    await this.#committing?.catch(() => undefined);
    this.#committing = this.#commitMoved().finally(() => {
      this.#committing = undefined;
    });
    return this.#committing;
  }

  async #commitMoved(): Promise<void> {
    const moved = this.#trackers
      .filter(({ watermark, committed }) => watermark > committed)
      .map((tracker) => ({ tracker, position: tracker.groupPosition }));
    if (moved.length === 0) return;
    await this.#membership.commit(moved.map(({ position }) => position));
    for (const { tracker, position } of moved) tracker.acknowledge(position);
  }

  positions(): readonly PartitionPosition[] {
    return this.#trackers.map(({ topic, partition, watermark }) => ({ topic, partition, offset: watermark }));
  }

  health() {
    const now = Date.now();
    const oldestAgeByTopic: Record<string, number> = {};
    const lagByPartition: Record<string, number> = {};
    for (const { topic, partition, lag, oldestAt = now } of this.#trackers) {
      oldestAgeByTopic[topic] = Math.max(oldestAgeByTopic[topic] ?? 0, now - oldestAt);
      lagByPartition[`${topic}/${partition}`] = lag;
    }
    return {
      joined: this.#membership.joined,
      rebalances: this.#rebalances,
      lagByPartition,
      lag: Object.values(lagByPartition).reduce((sum, lag) => sum + lag, 0),
      oldestAgeMs: Math.max(0, ...Object.values(oldestAgeByTopic)),
      oldestAgeByTopic,
    };
  }

  /** commit → leave → disconnect. Until now commits go on: a process that is killed while it drains repeats little. True when all that is finished is committed, which may take `commitMs`. */
  async close(commitMs: number): Promise<boolean> {
    clearInterval(this.#commitTimer);
    const committed = await within(
      this.#commit().then(() => true),
      commitMs,
    ).catch(this.#onError);
    await this.#membership.leave();
    this.#fetcher.stop();
    await this.#link.close();
    return committed ?? false;
  }
}
