import { performance } from 'node:perf_hooks';
import { endWith, openLinkOf } from './kafkajs-adapter/create-kafka.js';
import { remainingMs, within } from './deadline.js';
import { EndWatch } from './kafkajs-adapter/end-watch.js';
import type { Lane } from './lane.js';
import { Membership, type CommitRequest } from './kafkajs-adapter/membership.js';
import type { AssignedPartition } from './kafkajs-adapter/membership-offsets.js';
import { oldestAges } from './oldest-ages.js';
import { Progress } from './progress.js';
import type { PartitionPosition, SourceOptions } from './source-types.js';
import type { WindowGate } from './window-gate.js';
import type { Link } from './kafkajs-adapter/connect.js';
import { createFetcher, type Fetcher } from './kafkajs-adapter/fetcher.js';

export interface GroupReaderOptions extends Pick<
  SourceOptions,
  'kafka' | 'groupId' | 'startDeadlineMs' | 'giveUpAfterMs' | 'onFatal'
> {
  readonly topics: readonly string[];
  /** From one fetch of a broker to the next, at least. */
  readonly fetchIntervalMs: number;
  readonly gate: WindowGate;
  readonly makeLane: (assigned: AssignedPartition) => Lane;
  /** Something changed (assignment, fetched records): hand out what there is room for. */
  readonly onWork: () => void;
  /** Partitions came or went. */
  readonly onReassigned?: () => void;
  /** Asked when the reader stops: resolves when nothing is in flight any more. */
  readonly drained: () => Promise<unknown>;
  /** The wait for that is over, whatever came of it. */
  readonly endHanding: () => void;
}

/** What was settled since is repeated after a kill: 50 of 1,000 a second in the mean. It takes 0.6 % of a core more than a second would. */
const COMMIT_INTERVAL_MS = 100;
const DEFAULTS = { startDeadlineMs: 60_000, giveUpAfterMs: 300_000 };
const METADATA_MAX_AGE_MS = 10_000;
const FETCH_WAIT_MS = 250;
const BUSY_WAIT_MS = 25;
/**
 * An answer passes through memory three times (as it was read, whole, by partitions): of a backlog in twelve partitions 9 MiB twenty
 * times a second, garbage that V8 leaves lying. Less than what the allocator maps anew (1 MiB, see the image).
 */
const MAX_RESPONSE_BYTES = 960 * 1024;
/** What can be settled within a second of a rebalance is not repeated by the next owner; meanwhile nobody is delivered to. */
const REBALANCE_DRAIN_MS = 1_000;
const FINAL_COMMIT_MS = 1_000;

/** Membership, fetching and commits of a group: all of a source but the handing out of records. */
export class GroupReader {
  readonly #options: GroupReaderOptions;
  readonly progress: Progress;
  /** All partitions this process ever owned: see `Lane`. */
  readonly #lanes = new Map<string, Lane>();
  readonly #link: Link;
  readonly #fetcher: Fetcher;
  readonly #membership: Membership;
  readonly #ends: EndWatch;
  #commitTimer: NodeJS.Timeout | undefined;
  #assigned: readonly Lane[] = [];
  #settled = false;
  #stopping = false;
  #stopped: Promise<boolean> | undefined;
  #forget: (() => void) | undefined;
  #rebalances = 0;
  #committing: Promise<void> | undefined;
  #ticking = false;

  constructor(options: GroupReaderOptions) {
    this.#options = options;
    this.progress = new Progress(options.gate);
    this.#link = openLinkOf(options.kafka, METADATA_MAX_AGE_MS);
    this.#fetcher = this.#makeFetcher();
    this.#membership = this.#makeMembership();
    this.#ends = new EndWatch({
      link: this.#link,
      lanes: () => this.#assigned,
      onError: (error) => this.progress.failed(error),
    });
  }

  #makeFetcher(): Fetcher {
    return createFetcher({
      link: this.#link,
      log: this.#options.kafka.log,
      feeds: () => this.#assigned,
      maxWaitMs: FETCH_WAIT_MS,
      busyWaitMs: BUSY_WAIT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      minIntervalMs: this.#options.fetchIntervalMs,
      metadataMaxAgeMs: METADATA_MAX_AGE_MS,
      onAnswer: () => this.progress.idle(),
      onError: (error) => this.progress.failed(error),
    });
  }

  #makeMembership(): Membership {
    const { kafka, groupId, topics, giveUpAfterMs, onFatal } = this.#options;
    return new Membership({
      link: this.#link,
      openLink: () => openLinkOf(kafka, METADATA_MAX_AGE_MS),
      log: kafka.log,
      groupId,
      clientId: kafka.clientId,
      topics,
      giveUpAfterMs: giveUpAfterMs ?? DEFAULTS.giveUpAfterMs,
      onAssigned: (partitions) => this.#onAssigned(partitions),
      onRebalance: () => this.#onRebalance(),
      onHeartbeat: () => {
        // Nothing is fetched for a reader that is full, paused or without partitions: its heartbeats are its progress.
        if (this.#assigned.every((lane) => lane.want() === undefined)) this.progress.idle();
      },
      onError: (error) => this.progress.failed(error),
      onFatal: (error) => onFatal?.(error),
    });
  }

  /** Resolves with the first assignment; rejects when it is stopped before. */
  async start(): Promise<void> {
    const { startDeadlineMs = DEFAULTS.startDeadlineMs } = this.#options;
    this.#forget = endWith(this.#options.kafka, () => this.stop(0));
    const joined = this.#membership.start();
    const outcome = await within(
      joined.then(() => true),
      startDeadlineMs,
    );
    if (outcome === undefined) throw new Error(`not joined within ${startDeadlineMs} ms`);
    if (this.#stopping) throw new Error('stopped before the group was joined');
    this.#commitTimer = setInterval(() => this.#tick(), COMMIT_INTERVAL_MS);
  }

  #tick(): void {
    if (this.#ticking || !this.#settled) return;
    this.#ends.tick();
    this.#ticking = true;
    this.#commit()
      .catch((error: unknown) => this.progress.failed(error))
      .finally(() => {
        this.#ticking = false;
      });
  }

  /** The partitions to hand out from; none while the group rebalances or the reader stops. */
  get lanes(): readonly Lane[] {
    return this.#settled && !this.#stopping ? this.#assigned : [];
  }

  /** There may be something to fetch again. */
  kick(): void {
    this.#fetcher.kick();
  }

  #onAssigned(partitions: readonly AssignedPartition[]): void {
    this.#rebalances += 1;
    const kept = new Set<Lane>();
    for (const assigned of partitions) {
      const name = `${assigned.topic}/${assigned.partition}`;
      const lane = this.#lanes.get(name) ?? this.#options.makeLane(assigned);
      this.#lanes.set(name, lane);
      lane.assign(assigned);
      kept.add(lane);
    }
    for (const lane of this.#assigned) if (!kept.has(lane)) lane.unassign();
    this.#assigned = [...kept].sort((a, b) => (a.topic === b.topic ? 0 : a.topic < b.topic ? -1 : 1));
    this.#settled = true;
    this.#options.onReassigned?.();
    this.#fetcher.kick();
    this.#options.onWork();
  }

  async #onRebalance(): Promise<void> {
    this.#settled = false;
    await within(this.#options.gate.idle(), REBALANCE_DRAIN_MS);
    await within(this.#commit(), FINAL_COMMIT_MS).catch((error: unknown) => this.progress.failed(error));
  }

  /** Commits each watermark that moved; one request at a time, so that a later one never overtakes. */
  #commit(): Promise<void> {
    const before = this.#committing ?? Promise.resolve();
    const commit = before.catch(() => undefined).then(() => this.#commitMoved());
    this.#committing = commit;
    return commit;
  }

  async #commitMoved(): Promise<void> {
    const due = this.#assigned.map((lane) => ({ lane, offset: lane.watermark }));
    const moved = due.filter(({ lane, offset }) => offset > lane.committed);
    if (moved.length === 0) return;
    await this.#membership.commit(
      moved.map(({ lane: { topic, partition }, offset }): CommitRequest => ({ topic, partition, offset })),
    );
    for (const { lane, offset } of moved) lane.committed = offset;
  }

  positions(): readonly PartitionPosition[] {
    return this.#assigned.map(({ topic, partition, watermark }) => ({ topic, partition, offset: watermark }));
  }

  health() {
    const oldestAgeByTopic = oldestAges(this.#assigned, Date.now());
    const lags = this.#assigned.map((lane) => [`${lane.topic}/${lane.partition}`, lane.lag] as const);
    return {
      joined: this.#membership.joined,
      rebalances: this.#rebalances,
      lagByPartition: Object.fromEntries(lags),
      lag: lags.reduce((sum, [, lag]) => sum + lag, 0),
      oldestAgeMs: Math.max(0, ...Object.values(oldestAgeByTopic)),
      oldestAgeByTopic,
      ...this.progress.report(),
    };
  }

  /**
   * pause → drain → commit → leave → disconnect. True when all that is finished is committed. Commits go on during the
   * drain: a process that is killed in it repeats little. Once: a second call waits for the first.
   */
  stop(deadlineMs: number): Promise<boolean> {
    this.#stopped ??= this.#stop(deadlineMs);
    return this.#stopped;
  }

  async #stop(deadlineMs: number): Promise<boolean> {
    const { drained, endHanding } = this.#options;
    const deadlineAt = performance.now() + deadlineMs;
    this.#stopping = true;
    await within(drained(), deadlineMs);
    endHanding();
    clearInterval(this.#commitTimer);
    const committed = await this.#lastCommit(deadlineAt);
    await this.#membership.leave();
    this.#fetcher.stop();
    await this.#link.close();
    this.#forget?.();
    return committed;
  }

  async #lastCommit(deadlineAt: number): Promise<boolean> {
    try {
      const timeoutMs = Math.max(remainingMs(deadlineAt), FINAL_COMMIT_MS);
      const done = this.#commit().then(() => true);
      return (await within(done, timeoutMs)) ?? false;
    } catch (error) {
      this.progress.failed(error);
      return false;
    }
  }
}
