import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { createErrorFromCode, failure } from 'kafkajs/src/protocol/error.js';
import type { Logger } from '../log.js';
import { fetchRequest, type FetchedPartition, type FetchTarget } from '../protocol/fetch-protocol.js';
import { backoffMs } from './backoff.js';
import { dropConnections, type Link } from './connect.js';
import { faultOf } from './faults.js';
import { MetadataKeeper } from './metadata-keeper.js';
import { offsetAt } from './offsets.js';

/** A partition that wants to be read. Nothing here may throw or wait. */
export interface Feed {
  readonly topic: string;
  readonly partition: number;
  readonly maxBytes: number;
  /** The offset to fetch from; undefined when nothing is wanted now. */
  want(): number | undefined;
  accept(fetched: FetchedPartition, request: { readonly offset: number; readonly startedAt: number }): void;
  /** The wanted offset does not exist: go on at this one. */
  outOfRange(offset: number): void;
}

export interface FetcherOptions {
  readonly link: Link;
  readonly feeds: () => Iterable<Feed>;
  readonly log: Logger;
  readonly maxWaitMs: number;
  /** From one request to a broker to the next, at least (default 0): else each response to a steady stream holds a record or two. */
  readonly minIntervalMs?: number;
  /** Bytes of one response, all partitions together (default 960 KiB); a single batch may be larger. */
  readonly maxResponseBytes?: number;
  readonly metadataMaxAgeMs: number;
  /** The time (Unix milliseconds) of the last position that is known of a partition; default: of none. */
  readonly positionTime?: (feed: Feed) => Promise<number | undefined>;
  /** A broker responded, with whatever. */
  readonly onResponse?: () => void;
  readonly onError: (error: unknown) => void;
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

class Node {
  /** A fetch is on its way, or the broker is left alone after a failure or until the interval has passed. */
  isBusy = false;
  failures = 0;
  /** Which partition is named first, one further each time: of others a response may hold no more. */
  turn = 0;
  waitMs = SHORTEST_WAIT_MS;
}

/** One fetch on its way for each broker; a broker's response never waits for another, nor for what becomes of records. */
export class Fetcher {
  readonly #options: FetcherOptions;
  readonly #nodes = new Map<number, Node>();
  readonly #metadata: MetadataKeeper;
  /** Partitions that were refused: not requested again before the metadata was refreshed. */
  readonly #refused = new Set<Feed>();
  #stopped = false;

  constructor(options: FetcherOptions) {
    this.#options = options;
    this.#metadata = new MetadataKeeper({
      link: options.link,
      maxAgeMs: options.metadataMaxAgeMs,
      log: options.log,
      onRefreshed: () => {
        this.#refused.clear();
        this.kick();
      },
      onError: options.onError,
    });
  }

  /** Something may be wanted that was not wanted before. */
  kick(): void {
    if (this.#stopped) return;
    const wanted = Map.groupBy(this.#wanting(), ({ leader }) => leader);
    this.#metadata.refreshIfDue();
    for (const [nodeId, feeds] of wanted) {
      const node = this.#nodes.get(nodeId) ?? new Node();
      this.#nodes.set(nodeId, node);
      if (node.isBusy) continue;
      const first = node.turn++ % feeds.length;
      this.#fetch(nodeId, node, [...feeds.slice(first), ...feeds.slice(0, first)]).catch(
        this.#options.onError,
      );
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#metadata.stop();
  }

  *#wanting() {
    for (const feed of this.#options.feeds()) {
      const { topic, partition, maxBytes } = feed;
      const leader = this.#metadata.leaderOf(topic, partition);
      const offset = feed.want();
      if (leader === undefined) this.#metadata.expire();
      else if (offset !== undefined && !this.#refused.has(feed))
        yield { leader, feed, topic, partition, offset, maxBytes };
    }
  }

  async #fetch(nodeId: number, node: Node, wanted: readonly Wanted[]): Promise<void> {
    const startedAt = performance.now();
    node.isBusy = true;
    try {
      await this.#request(nodeId, node, wanted);
      node.failures = 0;
      const restMs = (this.#options.minIntervalMs ?? 0) - (performance.now() - startedAt);
      if (restMs > 1) await delay(restMs);
    } catch (error) {
      await this.#failed(nodeId, node, error);
    }
    node.isBusy = false;
    this.kick();
  }

  async #request(nodeId: number, node: Node, wanted: readonly Wanted[]): Promise<void> {
    const { link, maxWaitMs, maxResponseBytes = MAX_RESPONSE_BYTES, onResponse } = this.#options;
    const broker = await link.cluster.findBroker({ nodeId });
    const startedAt = performance.now();
    const limits = { maxWaitMs: Math.min(node.waitMs, maxWaitMs), minBytes: 1, maxBytes: maxResponseBytes };
    const response = await broker.connectionPool
      .send(fetchRequest(wanted, limits))
      .catch((error: unknown) => {
        dropConnections(broker, 'a fetch failed');
        throw error;
      });
    if (this.#stopped) return;
    if (failure(response.errorCode)) throw createErrorFromCode(response.errorCode);
    onResponse?.();
    const requested = new Map(wanted.map((one) => [`${one.topic}/${one.partition}`, one]));
    for (const fetched of response.partitions) {
      const found = requested.get(`${fetched.topic}/${fetched.partition}`);
      if (found) this.#deliver(found.feed, fetched, { offset: found.offset, startedAt });
    }
    const isEmpty = response.partitions.every(({ records }) => records.length === 0);
    node.waitMs = isEmpty ? Math.min(node.waitMs * 2, maxWaitMs) : SHORTEST_WAIT_MS;
  }

  #deliver(feed: Feed, fetched: FetchedPartition, request: { offset: number; startedAt: number }): void {
    if (!failure(fetched.errorCode)) return feed.accept(fetched, request);
    const { type: error } = createErrorFromCode(fetched.errorCode);
    const { topic, partition } = feed;
    this.#options.onError(new Error(`${topic}/${partition}: ${error}`));
    this.#refused.add(feed);
    this.#metadata.expire();
    if (error === 'OFFSET_OUT_OF_RANGE')
      return void this.#goOn(feed, request.offset).catch(this.#options.onError);
    const fields = { topic, partition, offset: request.offset, error };
    this.#options.log('warn', 'kafka: a partition could not be fetched', fields);
  }

  /** A partition that was moved meanwhile (assigned anew, say) is left alone: what was requested is not wanted any more. */
  async #goOn(feed: Feed, offset: number): Promise<void> {
    const instead = await this.#offsetInstead(feed, offset);
    if (this.#stopped || feed.want() !== offset) return;
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

  async #failed(nodeId: number, node: Node, error: unknown): Promise<void> {
    if (this.#stopped) return;
    const failures = (node.failures += 1);
    this.#options.log('debug', 'kafka: a fetch failed', { nodeId, failures, ...faultOf(error) });
    this.#options.onError(error);
    this.#metadata.expire();
    await delay(backoffMs(failures));
  }
}
