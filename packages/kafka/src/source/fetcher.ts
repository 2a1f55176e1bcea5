import { createLogThrottles } from '@webhooks/runtime';
import type { TopicPartition } from '../record.js';
import { within } from '../retry.js';
import { fetchRequest, type FetchedPartition, type FetchTarget } from '../wire/protocol.js';
import { Leaders, type LeadersOptions } from '../kafkajs/leaders.js';
import { createErrorFromCode, failure } from '../kafkajs/connections.js';
import { offsetAt } from '../kafkajs/topics.js';
import { FETCH_WAIT_MIN_MS, LIVE, MAX_RESPONSE_BYTES, TRUNCATION_MARGIN_MS } from '../limits.js';

/** A partition to fetch. Its methods must not throw or block. */
export interface Feed extends TopicPartition {
  /** Bytes of one fetch of this partition. */
  readonly maxBytes: number;
  /** Returns the offset to fetch from; undefined while the partition needs no fetch. */
  fetchOffset(): number | undefined;
  accept(fetched: FetchedPartition, request: { readonly offset: number; readonly startedAt: number }): void;
  /** The fetch offset does not exist: continue at this valid offset. */
  resetTo(offset: number): void;
}

export interface FetcherOptions extends Pick<LeadersOptions<Wanted>, 'connections' | 'onError'> {
  /** The partitions to fetch, read before each round of requests. */
  readonly feeds: () => Iterable<Feed>;
  /** Longest time for which a broker waits for records before it responds, milliseconds. */
  readonly maxWaitMs: number;
  /**
   * Shortest time between two requests to one broker, milliseconds; default 0. At 0, a response to a steady stream
   * has only one or two records. While more waits at the broker than was fetched, it is that of a live source.
   */
  readonly minIntervalMs?: number;
  /** Returns the time (Unix milliseconds) of a partition's committed position. Default: no position has a time. */
  readonly positionTime?: (feed: Feed) => Promise<number | undefined>;
  /** Called for each response of a broker, also with errors of partitions, before its records are accepted. */
  readonly onResponse?: () => void;
}

interface Wanted extends FetchTarget {
  readonly feed: Feed;
}

/**
 * Fetches from all brokers concurrently, with one request at a time for each. No response waits for another one, or
 * for the handling of its records.
 */
export class Fetcher {
  readonly #options: FetcherOptions;
  /**
   * Fetch state of each broker. `turn`: the partition that the next request names first. It advances by one with
   * each request, because a full response has only the first partitions. `waitMs`: how long the broker waits for
   * records. `wake` ends the pause before the next request.
   */
  readonly #nodes = new Map<number, { turn: number; waitMs: number; wake: (value: undefined) => void }>();
  readonly #leaders: Leaders<Wanted>;
  /** Partitions whose last fetch failed. They are requested again after the next refresh of the metadata. */
  readonly #refused = new Set<Feed>();
  /** By error: a partition that stays so is requested ten times a second. */
  readonly #throttle = createLogThrottles();

  constructor(options: FetcherOptions) {
    this.#options = options;
    this.#leaders = new Leaders({
      ...options,
      request: (nodeId, wanted: readonly Wanted[]) => this.#fetch(nodeId, wanted),
      onRefreshed: () => this.#refused.clear(),
      onReady: () => this.kick(),
    });
  }

  /** Sends new requests. Must be called when a feed may need a fetch that it did not need before. */
  kick(): void {
    this.#leaders.dispatch(this.#wanted());
  }

  /** Ends the pause before the next requests. A request that waits at its broker goes on, with the partitions that it names. */
  fetchNow(): void {
    for (const { wake } of this.#nodes.values()) wake(undefined);
  }

  stop(): void {
    this.#leaders.stopped = true;
    this.fetchNow();
  }

  *#wanted(): Generator<Wanted> {
    for (const feed of this.#options.feeds()) {
      const { topic, partition, maxBytes } = feed;
      const offset = this.#refused.has(feed) ? undefined : feed.fetchOffset();
      if (offset !== undefined) yield { feed, topic, partition, offset, maxBytes };
    }
  }

  async #fetch(nodeId: number, wanted: readonly Wanted[]): Promise<void> {
    const { connections, maxWaitMs, minIntervalMs = 0 } = this.#options;
    const { isolationLevel } = connections.cluster;
    const { turn, waitMs } = this.#nodes.get(nodeId) ?? { turn: 0, waitMs: FETCH_WAIT_MIN_MS };
    const { promise: woken, resolve: wake } = Promise.withResolvers<undefined>();
    const node = { turn: turn + 1, waitMs, wake };
    this.#nodes.set(nodeId, node);
    const first = turn % wanted.length;
    const targets = [...wanted.slice(first), ...wanted.slice(0, first)];
    const limits = {
      maxWaitMs: Math.min(waitMs, maxWaitMs),
      maxBytes: MAX_RESPONSE_BYTES,
      isolationLevel,
    };
    const startedAt = performance.now();
    const { partitions, errorCode } = await this.#leaders.send(nodeId, fetchRequest(targets, limits));
    if (this.#leaders.stopped) return;
    if (failure(errorCode)) throw createErrorFromCode(errorCode);
    const isBehind = this.#deliverAll(partitions, wanted, startedAt);
    const isEmpty = partitions.every(({ records }) => records.length === 0);
    node.waitMs = isEmpty ? Math.min(waitMs * 2, maxWaitMs) : FETCH_WAIT_MIN_MS;
    const intervalMs = isBehind ? Math.min(minIntervalMs, LIVE.fetchIntervalMs) : minIntervalMs;
    const pauseMs = intervalMs - (performance.now() - startedAt);
    if (pauseMs > 1) await within(woken, pauseMs);
  }

  /** Hands the partitions to their feeds. Returns whether the broker has further records for one of them. */
  #deliverAll(
    partitions: readonly FetchedPartition[],
    wanted: readonly Wanted[],
    startedAt: number,
  ): boolean {
    this.#options.onResponse?.();
    const requested = new Map(wanted.map((one) => [`${one.topic}/${one.partition}`, one]));
    let isBehind = false;
    for (const fetched of partitions) {
      const found = requested.get(`${fetched.topic}/${fetched.partition}`);
      if (!found) continue;
      this.#deliver(found.feed, fetched, { offset: found.offset, startedAt });
      isBehind ||= (found.feed.fetchOffset() ?? Infinity) < fetched.highWatermark;
    }
    return isBehind;
  }

  #deliver(feed: Feed, fetched: FetchedPartition, request: { offset: number; startedAt: number }): void {
    if (!failure(fetched.errorCode)) return feed.accept(fetched, request);
    const cause = createErrorFromCode(fetched.errorCode);
    const { type: error } = cause;
    const { topic, partition } = feed;
    this.#options.onError(new Error(`${topic}/${partition}: ${error}`, { cause }));
    this.#refused.add(feed);
    this.#leaders.expire();
    if (error === 'OFFSET_OUT_OF_RANGE')
      return void this.#recover(feed, request.offset).catch(this.#options.onError);
    const fields = { topic, partition, offset: request.offset, error };
    const { log } = this.#options.connections;
    this.#throttle(error, (count) =>
      log('warn', 'kafka: a partition could not be fetched', { ...fields, count }),
    );
  }

  /**
   * Resets a partition whose fetch offset does not exist. A partition whose fetch offset changed meanwhile is left
   * as it is.
   */
  async #recover(feed: Feed, offset: number): Promise<void> {
    const validOffset = await this.#validOffset(feed, offset);
    if (this.#leaders.stopped || feed.fetchOffset() !== offset) return;
    const { topic, partition } = feed;
    const fields = { topic, partition, offset, instead: validOffset };
    // A reader without a position begins at offset 0, which retention may have deleted. That is not a fault.
    const level = offset === 0 ? 'info' : 'error';
    this.#options.connections.log(
      level,
      'kafka: the fetch offset does not exist; continuing at another',
      fields,
    );
    feed.resetTo(validOffset);
  }

  /**
   * Finds a valid offset. An offset before the log's start was deleted by retention: reading continues at the
   * earliest record. An offset beyond the log's end means that the log was truncated: reading continues at the time
   * of the committed position. Without a position the topic was recreated (Kafka deletes positions with a topic):
   * reading begins at its start. A truncated log that has grown past the offset again is not noticed; that would
   * need leader epochs (KIP-320).
   */
  async #validOffset(feed: Feed, offset: number): Promise<number> {
    const { connections, positionTime } = this.#options;
    const earliest = await offsetAt(connections, feed);
    const time = offset < earliest ? undefined : await positionTime?.(feed);
    return time === undefined
      ? earliest
      : offsetAt(connections, feed, Math.max(time - TRUNCATION_MARGIN_MS, 0));
  }
}
