import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { TopicPartition } from '../record.js';
import { fetchRequest, type FetchedPartition, type FetchTarget } from '../wire/protocol.js';
import { Leaders, type LinkUse } from '../kafkajs/leaders.js';
import { createErrorFromCode, failure } from '../kafkajs/link.js';
import { offsetAt } from '../kafkajs/topics.js';

/** A partition that wants to be read. Nothing here may throw or wait. */
export interface Feed extends TopicPartition {
  readonly maxBytes: number;
  /** The offset to fetch from; undefined when nothing is wanted now. */
  want(): number | undefined;
  accept(fetched: FetchedPartition, request: { readonly offset: number; readonly startedAt: number }): void;
  /** The wanted offset does not exist: go on at this one. */
  outOfRange(offset: number): void;
}

export interface FetcherOptions extends LinkUse {
  readonly feeds: () => Iterable<Feed>;
  readonly maxWaitMs: number;
  /** From one request to a broker to the next, at least (default 0): else each response to a steady stream holds a record or two. */
  readonly minIntervalMs?: number;
  /** Bytes of one response, all partitions together (default 960 KiB); a single batch may be larger. */
  readonly responseBytes?: number;
  /** The time (Unix milliseconds) of the last position that is known of a partition; default: of none. */
  readonly positionTime?: (feed: Feed) => Promise<number | undefined>;
  /** A broker responded, with whatever. */
  readonly onResponse?: () => void;
}

/**
 * A response passes through memory three times (as it was read, whole, by partitions): of a backlog in twelve partitions 9 MiB twenty
 * times a second, garbage that V8 leaves lying. Less than what the allocator maps anew (1 MiB, see the image).
 */
const MAX_RESPONSE_BYTES = 960 * 1024;
/** Wait of the fetch that follows records, doubled by each empty response: a partition that is full now may want more soon. */
const SHORTEST_WAIT_MS = 25;
/** A sink writes up to 30 s after a record's time, and clocks differ. */
const TRUNCATION_MARGIN_MS = 60_000;

interface Wanted extends FetchTarget {
  readonly feed: Feed;
}

/** How a broker is fetched from. */
interface Node {
  /** Which partition is named first, one further each time: of others a response may hold no more. */
  turn: number;
  waitMs: number;
}

/** One fetch on its way for each broker; a broker's response never waits for another, nor for what becomes of records. */
export class Fetcher {
  readonly #options: FetcherOptions;
  readonly #nodes = new Map<number, Node>();
  readonly #leaders: Leaders<Wanted>;
  /** Partitions that were refused: not requested again before the metadata was refreshed. */
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

  /** Something may be wanted that was not wanted before. */
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
    const { link, maxWaitMs, minIntervalMs = 0, responseBytes = MAX_RESPONSE_BYTES } = this.#options;
    const { isolationLevel } = link.cluster;
    const node = this.#nodes.get(nodeId) ?? { turn: 0, waitMs: SHORTEST_WAIT_MS };
    this.#nodes.set(nodeId, node);
    const first = node.turn++ % wanted.length;
    const targets = [...wanted.slice(first), ...wanted.slice(0, first)];
    const limits = { maxWaitMs: Math.min(node.waitMs, maxWaitMs), maxBytes: responseBytes, isolationLevel };
    const startedAt = performance.now();
    const { partitions, errorCode } = await this.#leaders.send(nodeId, fetchRequest(targets, limits));
    if (this.#leaders.stopped) return;
    if (failure(errorCode)) throw createErrorFromCode(errorCode);
    this.#deliverAll(partitions, wanted, startedAt);
    const isEmpty = partitions.every(({ records }) => records.length === 0);
    node.waitMs = isEmpty ? Math.min(node.waitMs * 2, maxWaitMs) : SHORTEST_WAIT_MS;
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
    this.#options.log('warn', 'kafka: a partition could not be fetched', fields);
  }

  /** A partition that was moved meanwhile (assigned anew, say) is left alone: what was requested is not wanted any more. */
  async #goOn(feed: Feed, offset: number): Promise<void> {
    const instead = await this.#offsetInstead(feed, offset);
    if (this.#leaders.stopped || feed.want() !== offset) return;
    const { topic, partition } = feed;
    const fields = { topic, partition, offset, instead };
    // Offset 0 stands for the beginning, which retention has moved.
    const level = offset === 0 ? 'info' : 'error';
    this.#options.log(level, 'kafka: the offset to read does not exist, going on at another', fields);
    feed.outOfRange(instead);
  }

  /**
   * Below the log retention has deleted it: at the earliest, so that nothing that is left is skipped. Above its end the log was
   * truncated: at the time of the last position. No such position: the topic was made anew (Kafka deletes a group's positions
   * with a topic), and is read from its beginning. What a truncated log has grown beyond the wanted offset before it was fetched
   * is not noticed: that takes leader epochs (KIP-320).
   */
  async #offsetInstead(feed: Feed, offset: number): Promise<number> {
    const { link, positionTime } = this.#options;
    const earliest = await offsetAt(link, feed);
    const time = offset < earliest ? undefined : await positionTime?.(feed);
    return time === undefined ? earliest : offsetAt(link, feed, Math.max(time - TRUNCATION_MARGIN_MS, 0));
  }
}
