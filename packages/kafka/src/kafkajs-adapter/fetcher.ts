import { performance } from 'node:perf_hooks';
import type { Broker } from 'kafkajs/src/cluster/index.js';
import type { Logger } from '../log.js';
import { dropConnections, type Link } from './connect.js';
import { ERROR, errorName } from '../protocol/errors.js';
import { faultOf } from './faults.js';
import {
  fetchRequest,
  type FetchedPartition,
  type FetchLimits,
  type FetchTarget,
} from '../protocol/fetch-protocol.js';
import { createMetadataKeeper, type MetadataKeeper } from './metadata-keeper.js';
import { earliestOffset } from './offsets.js';
import { backoffMs } from './backoff.js';

/** A partition that wants to be read. Nothing here may throw or wait. */
export interface Feed {
  readonly topic: string;
  readonly partition: number;
  readonly maxBytes: number;
  /** The offset to fetch from; undefined when nothing is wanted now. */
  want(): number | undefined;
  /** Wants nothing only because it is full and being emptied: others' long polls are cut short for its sake. */
  busy(): boolean;
  accept(fetched: FetchedPartition, request: { readonly offset: number; readonly startedAt: number }): void;
  /** The wanted offset does not exist (any more): go on at the earliest one. */
  outOfRange(earliest: number): void;
}

export interface FetcherOptions {
  readonly link: Link;
  readonly feeds: () => Iterable<Feed>;
  readonly log: Logger;
  readonly maxWaitMs: number;
  /** Longest wait of a fetch while another partition of the same broker is full and being emptied. */
  readonly busyWaitMs: number;
  /** From one request to a broker to the next, at least (default 0): else each answer to a steady stream holds a record or two. */
  readonly minIntervalMs?: number;
  /** Bytes of one answer, all partitions together, default 8 MiB; a single batch may be larger. */
  readonly maxResponseBytes?: number;
  readonly metadataMaxAgeMs: number;
  /** A broker answered (whatever it said). */
  readonly onAnswer?: () => void;
  readonly onError?: (error: unknown) => void;
  readonly onMetadata?: () => void;
}

export interface Fetcher {
  /** Something is wanted that was not wanted before. Cheap; calls within one turn are one. */
  kick(): void;
  stop(): void;
}

const RESPONSE_BYTES = 8 * 1024 * 1024;

interface Node {
  fetching: boolean;
  failures: number;
  /** Which partition is named first, one further each time: of others an answer may hold no more. */
  turn: number;
  /** Runs while the broker is left alone: after a failure, or until the interval has passed. */
  restTimer: NodeJS.Timeout | undefined;
}

interface Wanted {
  readonly feeds: readonly Feed[];
  readonly maxWaitMs: number;
}

/** One fetch on its way for each broker; a broker's answer never waits for another, nor for what becomes of records. */
export function createFetcher(options: FetcherOptions): Fetcher {
  return new FetchLoop(options);
}

class FetchLoop implements Fetcher {
  readonly #options: FetcherOptions;
  readonly #nodes = new Map<number, Node>();
  readonly #metadata: MetadataKeeper;
  /** Partitions whose leader was wrong: not asked again before the metadata was refreshed. */
  readonly #misplaced = new Set<Feed>();
  #kicked = false;
  #stopped = false;

  constructor(options: FetcherOptions) {
    this.#options = options;
    const { link, metadataMaxAgeMs, log } = options;
    this.#metadata = createMetadataKeeper({
      link,
      maxAgeMs: metadataMaxAgeMs,
      log,
      onRefreshed: () => {
        this.#misplaced.clear();
        options.onMetadata?.();
        this.kick();
      },
      onError: (error) => options.onError?.(error),
    });
  }

  kick(): void {
    if (this.#kicked || this.#stopped) return;
    this.#kicked = true;
    setImmediate(() => {
      this.#kicked = false;
      if (!this.#stopped) this.#sendAll();
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#metadata.stop();
    for (const node of this.#nodes.values()) clearTimeout(node.restTimer);
  }

  #sendAll(): void {
    const { wanted, busy } = this.#feedsByLeader();
    this.#metadata.refreshIfDue();
    for (const [nodeId, feeds] of wanted) {
      const node = this.#node(nodeId);
      if (node.fetching || node.restTimer !== undefined) continue;
      node.fetching = true;
      const maxWaitMs = busy.has(nodeId) ? this.#options.busyWaitMs : this.#options.maxWaitMs;
      this.#fetch(nodeId, node, { feeds: rotate(feeds, node.turn++), maxWaitMs });
    }
  }

  #feedsByLeader(): { wanted: Map<number, Feed[]>; busy: Set<number> } {
    const wanted = new Map<number, Feed[]>();
    const busy = new Set<number>();
    for (const feed of this.#options.feeds()) {
      const leader = this.#metadata.leaderOf(feed.topic, feed.partition);
      if (leader === undefined) this.#metadata.expire();
      else if (feed.busy()) busy.add(leader);
      else if (feed.want() !== undefined && !this.#misplaced.has(feed)) push(wanted, leader, feed);
    }
    return { wanted, busy };
  }

  #node(nodeId: number): Node {
    let node = this.#nodes.get(nodeId);
    if (node === undefined) {
      node = { fetching: false, failures: 0, turn: 0, restTimer: undefined };
      this.#nodes.set(nodeId, node);
    }
    return node;
  }

  #fetch(nodeId: number, node: Node, wanted: Wanted): void {
    const startedAt = performance.now();
    this.#request(nodeId, wanted)
      .then(() => {
        node.failures = 0;
        this.#rest(node, (this.#options.minIntervalMs ?? 0) - (performance.now() - startedAt));
      })
      .catch((error: unknown) => this.#failed(nodeId, node, error))
      .finally(() => {
        node.fetching = false;
        this.kick();
      });
  }

  async #request(nodeId: number, wanted: Wanted): Promise<void> {
    const broker = await this.#options.link.cluster.findBroker({ nodeId });
    const asked = targetsOf(wanted.feeds);
    if (asked.size === 0) return;
    const startedAt = performance.now();
    const targets = [...asked.values()].map(({ target }) => target);
    const maxBytes = this.#options.maxResponseBytes ?? RESPONSE_BYTES;
    const response = await send(broker, targets, { maxWaitMs: wanted.maxWaitMs, minBytes: 1, maxBytes });
    if (this.#stopped) return;
    if (response.errorCode !== ERROR.NONE) throw new Error(`fetch: ${errorName(response.errorCode)}`);
    this.#options.onAnswer?.();
    for (const fetched of response.partitions) {
      const found = asked.get(`${fetched.topic}/${fetched.partition}`);
      if (found) this.#deliver(found.feed, fetched, { offset: found.target.offset, startedAt });
    }
  }

  #deliver(feed: Feed, fetched: FetchedPartition, request: { offset: number; startedAt: number }): void {
    if (fetched.errorCode === ERROR.NONE) return feed.accept(fetched, request);
    const { topic, partition } = feed;
    const fields = { topic, partition, offset: request.offset, error: errorName(fetched.errorCode) };
    this.#options.log('warn', 'kafka: a partition could not be fetched', fields);
    this.#options.onError?.(new Error(`${topic}/${partition}: ${errorName(fetched.errorCode)}`));
    this.#misplaced.add(feed);
    this.#metadata.expire();
    if (fetched.errorCode === ERROR.OFFSET_OUT_OF_RANGE) this.#reset(feed, request.offset);
  }

  /**
   * `fromBeginning` everywhere: whatever is missing was deleted by retention, and nothing that is left is skipped. A
   * partition that was moved meanwhile (assigned anew, say) is left alone: what was asked about is not wanted any more.
   */
  #reset(feed: Feed, offset: number): void {
    earliestOffset(this.#options.link, feed)
      .then((earliest) => {
        if (this.#stopped || feed.want() !== offset) return;
        const { topic, partition } = feed;
        const fields = { topic, partition, offset, earliest };
        this.#options.log('error', 'kafka: the offset to read is gone, going on at the earliest', fields);
        feed.outOfRange(earliest);
      })
      .catch((error: unknown) => this.#options.onError?.(error));
  }

  #failed(nodeId: number, node: Node, error: unknown): void {
    if (this.#stopped) return;
    node.failures += 1;
    const fault = faultOf(error);
    this.#options.log('debug', 'kafka: a fetch failed', { nodeId, failures: node.failures, ...fault });
    this.#options.onError?.(error);
    this.#metadata.expire();
    this.#rest(node, backoffMs(node.failures));
  }

  #rest(node: Node, forMs: number): void {
    if (forMs < 1 || this.#stopped) return;
    node.restTimer = setTimeout(() => {
      node.restTimer = undefined;
      this.kick();
    }, forMs);
  }
}

function targetsOf(feeds: readonly Feed[]): Map<string, { feed: Feed; target: FetchTarget }> {
  const targets = new Map<string, { feed: Feed; target: FetchTarget }>();
  for (const feed of feeds) {
    const offset = feed.want();
    if (offset === undefined) continue;
    const { topic, partition, maxBytes } = feed;
    targets.set(`${topic}/${partition}`, { feed, target: { topic, partition, offset, maxBytes } });
  }
  return targets;
}

async function send(broker: Broker, targets: FetchTarget[], limits: FetchLimits) {
  try {
    return await broker.connectionPool.send(fetchRequest(targets, limits));
  } catch (error) {
    dropConnections(broker, 'a fetch failed');
    throw error;
  }
}

function push<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** Each fetch begins with another partition: the broker fills its answer in the order of the request. */
function rotate<T>(list: T[], turn: number): T[] {
  const at = turn % list.length;
  return at === 0 ? list : [...list.slice(at), ...list.slice(0, at)];
}
