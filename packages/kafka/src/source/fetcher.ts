import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { TopicPartition } from '../record.js';
import { fetchRequest, type FetchedPartition, type FetchTarget } from '../wire/protocol.js';
import { Leaders, type LeadersOptions } from '../kafkajs/leaders.js';
import { createErrorFromCode, failure } from '../kafkajs/link.js';
import { offsetAt } from '../kafkajs/topics.js';
import { FETCH_WAIT_MIN_MS, MAX_RESPONSE_BYTES, TRUNCATION_MARGIN_MS } from '../limits.js';

/** A partition that wants to be read. Nothing here may throw or wait. */
export interface Feed extends TopicPartition {
  readonly maxBytes: number;
  /** The offset to fetch from; undefined when nothing is wanted now. */
  want(): number | undefined;
  accept(fetched: FetchedPartition, request: { readonly offset: number; readonly startedAt: number }): void;
  /** The wanted offset does not exist: go on at this one. */
  outOfRange(offset: number): void;
}

export interface FetcherOptions extends Pick<LeadersOptions<Wanted>, 'link' | 'onError'> {
  readonly feeds: () => Iterable<Feed>;
  readonly maxWaitMs: number;
  /** Shortest time between two requests to one broker; default 0. Without it each response to a steady stream holds a record or two. */
  readonly minIntervalMs?: number;
  /** The time (Unix milliseconds) of the last committed position of a partition. Default: no position has one. */
  readonly positionTime?: (feed: Feed) => Promise<number | undefined>;
  /** A broker responded; the response may hold errors. */
  readonly onResponse?: () => void;
}

interface Wanted extends FetchTarget {
  readonly feed: Feed;
}

/** Fetches from all brokers side by side, one request at a time for each. No response waits for another, or for its records. */
export class Fetcher {
  readonly #options: FetcherOptions;
  /**
   * How each broker is fetched from. `turn`: the partition that a request names first; the next request begins one further, because a
   * full response holds only the first ones. `waitMs`: how long the broker holds a fetch.
   */
  readonly #nodes = new Map<number, { turn: number; waitMs: number }>();
  readonly #leaders: Leaders<Wanted>;
  /** Refused partitions. They are requested again after the next refresh of the metadata. */
  readonly #refused = new Set<Feed>();

  constructor(options: FetcherOptions) {
    this.#options = options;
    this.#leaders = new Leaders({
      ...options,
      request: (nodeId, wanted: readonly Wanted[]) => this.#fetch(nodeId, wanted),
      onRefreshed: () => this.#refused.clear(),
      onReady: () => this.kick(),
    });
  }

  /** Call it when a feed may want something that it did not want before. */
  kick(): void {
    this.#leaders.dispatch(this.#wanted());
  }

  stop(): void {
    this.#leaders.stopped = true;
  }

  *#wanted(): Generator<Wanted> {
    for (const feed of this.#options.feeds()) {
      const { topic, partition, maxBytes } = feed;
      const offset = this.#refused.has(feed) ? undefined : feed.want();
      if (offset !== undefined) yield { feed, topic, partition, offset, maxBytes };
    }
  }

  async #fetch(nodeId: number, wanted: readonly Wanted[]): Promise<void> {
    const { link, maxWaitMs, minIntervalMs = 0 } = this.#options;
    const { isolationLevel } = link.cluster;
    const node = this.#nodes.get(nodeId) ?? { turn: 0, waitMs: FETCH_WAIT_MIN_MS };
    this.#nodes.set(nodeId, node);
    const first = node.turn++ % wanted.length;
    const targets = [...wanted.slice(first), ...wanted.slice(0, first)];
    const limits = {
      maxWaitMs: Math.min(node.waitMs, maxWaitMs),
      maxBytes: MAX_RESPONSE_BYTES,
      isolationLevel,
    };
    const startedAt = performance.now();
    const { partitions, errorCode } = await this.#leaders.send(nodeId, fetchRequest(targets, limits));
    if (this.#leaders.stopped) return;
    if (failure(errorCode)) throw createErrorFromCode(errorCode);
    this.#deliverAll(partitions, wanted, startedAt);
    const isEmpty = partitions.every(({ records }) => records.length === 0);
    node.waitMs = isEmpty ? Math.min(node.waitMs * 2, maxWaitMs) : FETCH_WAIT_MIN_MS;
    const restMs = minIntervalMs - (performance.now() - startedAt);
    if (restMs > 1) await delay(restMs);
  }

  #deliverAll(partitions: readonly FetchedPartition[], wanted: readonly Wanted[], startedAt: number): void {
    this.#options.onResponse?.();
    const requested = new Map(wanted.map((one) => [`${one.topic}/${one.partition}`, one]));
    for (const fetched of partitions) {
      const found = requested.get(`${fetched.topic}/${fetched.partition}`);
      if (found) this.#deliver(found.feed, fetched, { offset: found.offset, startedAt });
    }
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
      return void this.#goOn(feed, request.offset).catch(this.#options.onError);
    const fields = { topic, partition, offset: request.offset, error };
    this.#options.link.log('warn', 'kafka: a partition could not be fetched', fields);
  }

  /** Finds another offset for one that does not exist. A partition that moved meanwhile stays where it is. */
  async #goOn(feed: Feed, offset: number): Promise<void> {
    const instead = await this.#offsetInstead(feed, offset);
    if (this.#leaders.stopped || feed.want() !== offset) return;
    const { topic, partition } = feed;
    const fields = { topic, partition, offset, instead };
    // A reader without a position begins at offset 0, which retention may have deleted: no fault.
    const level = offset === 0 ? 'info' : 'error';
    this.#options.link.log(level, 'kafka: the offset to read does not exist, going on at another', fields);
    feed.outOfRange(instead);
  }

  /**
   * Below the log, retention has deleted the offset: reading goes on at the earliest record. Above its end, the log was truncated:
   * reading goes on at the time of the last position. Without a position the topic was made anew (Kafka deletes positions with a
   * topic): reading begins at its start. A truncated log that has grown past the offset again is not noticed; that takes leader
   * epochs (KIP-320).
   */
  async #offsetInstead(feed: Feed, offset: number): Promise<number> {
    const { link, positionTime } = this.#options;
    const earliest = await offsetAt(link, feed);
    const time = offset < earliest ? undefined : await positionTime?.(feed);
    return time === undefined ? earliest : offsetAt(link, feed, Math.max(time - TRUNCATION_MARGIN_MS, 0));
  }
}
