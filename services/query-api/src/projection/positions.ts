import type { EndOffsets, PartitionPosition } from '@webhooks/kafka';
import type { RunQuery } from '@webhooks/mongodb';
import type { Connection, Model } from 'mongoose';
import { documentSchema } from '../documents.js';
import type { RunningProjection } from './projection.js';

/**
 * One of three kinds of documents: the positions of one topic, the rebuild generation, or the cursor key. `_id` tells
 * which.
 */
export interface PositionRow {
  /** `generation/name` for positions; see generation.ts for the others. */
  readonly _id: string;
  readonly offsets?: Readonly<Record<string, number>>;
  readonly generation?: string;
  readonly key?: string;
}

export type PositionModel = Model<PositionRow>;
export type RunPositionQuery = RunQuery<{ readonly positions: PositionModel }>;

export const positionModelOn = (connection: Connection): PositionModel =>
  connection.model<PositionRow>('Position', documentSchema<PositionRow>(), 'positions');

/** Returns the documents with these ids, by one statement. Those that do not exist are left out. */
export const readRows = (runQuery: RunPositionQuery, ids: readonly string[]): Promise<PositionRow[]> =>
  runQuery(({ positions }) =>
    positions
      .find()
      .in('_id', [...ids])
      .lean()
      .exec(),
  );

export interface PositionsOptions {
  readonly topic: string;
  /** Distinguishes these positions from others, also from those of another projection of the same topic. */
  readonly name: string;
  /** Returns the rebuild generation; undefined while it is not known. */
  readonly generation: () => string | undefined;
  readonly runQuery: RunPositionQuery;
  /** Whether queries of other instances must not wait for the next fetch: then this instance pauses for 20 ms at most. */
  readonly readsForOthers: boolean | undefined;
  /** Returns the projection that this instance runs, on all its topics; undefined while it is not running. */
  readonly running: () => Pick<RunningProjection, 'positions' | 'fetchNow'> | undefined;
}

/**
 * The positions up to which a topic is projected. Within a generation, everything below a written position stays
 * written. So the highest position that any instance has written is valid, whichever instance owns the partition now.
 */
export class Positions {
  readonly generation: PositionsOptions['generation'];
  readonly topic: string;
  readonly name: string;
  readonly #options: PositionsOptions;
  readonly #known = new Map<number, number>();
  readonly #written = new Map<number, number>();

  constructor(options: PositionsOptions) {
    this.#options = options;
    this.generation = options.generation;
    this.topic = options.topic;
    this.name = options.name;
  }

  /** Id of the document that contains these positions. */
  get id(): string {
    return `${this.generation()}/${this.name}`;
  }

  #raise(partition: number, offset: number): void {
    if (offset > (this.#known.get(partition) ?? 0)) this.#known.set(partition, offset);
  }

  #own(): readonly PartitionPosition[] {
    const own = this.#options.running()?.positions() ?? [];
    return own.filter(({ topic }) => topic === this.topic);
  }

  /** Reads at once what is on the partitions that this instance owns. */
  fetchNow(): void {
    this.#options.running()?.fetchNow();
  }

  /** Merges this instance's own positions into the known ones. Returns all of them. */
  mergeOwn(): EndOffsets {
    for (const { partition, offset } of this.#own()) this.#raise(partition, offset);
    return new Map(this.#known);
  }

  /** Whether every partition is known to be projected up to these ends. */
  covers(ends: EndOffsets): boolean {
    for (const [partition, end] of ends) if ((this.#known.get(partition) ?? 0) < end) return false;
    return true;
  }

  /** Whether this instance projects every partition with a known position, and is behind none of these positions. */
  isAhead(): boolean {
    const own = new Map(this.#own().map(({ partition, offset }) => [partition, offset]));
    return [...this.#known].every(([partition, offset]) => (own.get(partition) ?? 0) >= offset);
  }

  /** Whether this instance does not project one of these partitions, so that its position is known only by the database. */
  needsOthers(ends: EndOffsets): boolean {
    const own = new Set(this.#own().map(({ partition }) => partition));
    return [...ends.keys()].some((partition) => !own.has(partition));
  }

  /** Merges the positions that instances have written, from the document `id`, into the known ones. */
  mergeWritten(offsets: PositionRow['offsets'] = {}): void {
    // All that is not there is written again: a failover may lose a write.
    this.#written.clear();
    for (const [partition, offset] of Object.entries(offsets)) {
      this.#raise(Number(partition), offset);
      this.#written.set(Number(partition), offset);
    }
  }

  /** Merges the positions that other instances have written into the known ones. */
  async readOthers(): Promise<void> {
    const [row] = await readRows(this.#options.runQuery, [this.id]);
    this.mergeWritten(row?.offsets);
  }

  /** Returns the positions of all instances, merged. */
  async offsets(): Promise<EndOffsets> {
    await this.readOthers();
    return this.mergeOwn();
  }

  /** Writes the positions that advanced since the last write, so that other instances can read them. */
  async write(): Promise<void> {
    if (this.#options.readsForOthers === true && this.needsOthers(this.#known)) this.fetchNow();
    this.mergeOwn();
    const moved = [...this.#known].filter(
      ([partition, offset]) => offset > (this.#written.get(partition) ?? 0),
    );
    if (moved.length === 0) return;
    const offsets = Object.fromEntries(moved.map(([partition, offset]) => [`offsets.${partition}`, offset]));
    await this.#options.runQuery(({ positions }) =>
      positions.collection.updateOne(
        { _id: this.id as never },
        { $max: offsets },
        { upsert: true, writeConcern: { w: 1 } },
      ),
    );
    for (const [partition, offset] of moved) this.#written.set(partition, offset);
  }
}
