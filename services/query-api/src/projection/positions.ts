import type { EndOffsets, PartitionPosition } from '@webhooks/kafka';
import type { RunQuery } from '@webhooks/mongodb';
import type { Connection, Model } from 'mongoose';
import { documentSchema } from '../documents.js';

/** By id: the positions of one topic, the rebuild generation, or the key of cursors. */
export interface PositionRow {
  /** `generation/topic` for positions; see generation.ts for the others. */
  readonly _id: string;
  readonly offsets?: Readonly<Record<string, number>>;
  readonly generation?: string;
  readonly key?: string;
}

export type PositionModel = Model<PositionRow>;
export type RunPositionQuery = RunQuery<{ readonly positions: PositionModel }>;

export const positionModelOn = (connection: Connection): PositionModel =>
  connection.model<PositionRow>('Position', documentSchema<PositionRow>(), 'positions');

export interface PositionsOptions {
  readonly topic: string;
  /** The rebuild generation; undefined while it is not known. */
  readonly generation: () => string | undefined;
  readonly runQuery: RunPositionQuery;
  /** Positions of the partitions that this instance owns, on all topics. */
  readonly own: () => readonly PartitionPosition[];
}

/**
 * How far a topic is projected. Within a generation, everything below a written position stays written. So the
 * highest position that any instance has written counts, whoever owns the partition now.
 */
export class Positions {
  readonly generation: PositionsOptions['generation'];
  readonly topic: string;
  readonly #options: PositionsOptions;
  readonly #known = new Map<number, number>();
  readonly #written = new Map<number, number>();

  constructor(options: PositionsOptions) {
    this.#options = options;
    this.generation = options.generation;
    this.topic = options.topic;
  }

  get #id(): string {
    return `${this.generation()}/${this.topic}`;
  }

  #raise(partition: number, offset: number): void {
    if (offset > (this.#known.get(partition) ?? 0)) this.#known.set(partition, offset);
  }

  #own(): readonly PartitionPosition[] {
    return this.#options.own().filter(({ topic }) => topic === this.topic);
  }

  /** Takes over this instance's own positions. Returns every position that is known here. */
  takeOwn(): EndOffsets {
    for (const { partition, offset } of this.#own()) this.#raise(partition, offset);
    return new Map(this.#known);
  }

  /** Whether every partition is known to be projected up to these ends. */
  covers(ends: EndOffsets): boolean {
    for (const [partition, end] of ends) if ((this.#known.get(partition) ?? 0) < end) return false;
    return true;
  }

  /** Whether another instance projects some of these partitions, so that only the database knows. */
  needsOthers(ends: EndOffsets): boolean {
    const own = new Set(this.#own().map(({ partition }) => partition));
    return [...ends.keys()].some((partition) => !own.has(partition));
  }

  /** Takes over the positions that other instances have written. */
  async readOthers(): Promise<void> {
    const row = await this.#options.runQuery(({ positions }) => positions.findById(this.#id).lean().exec());
    for (const [partition, offset] of Object.entries(row?.offsets ?? {}))
      this.#raise(Number(partition), offset);
  }

  /** The positions of all instances together. */
  async offsets(): Promise<EndOffsets> {
    await this.readOthers();
    return this.takeOwn();
  }

  /** Writes the positions that advanced since the last time, for other instances. */
  async write(): Promise<void> {
    this.takeOwn();
    const moved = [...this.#known].filter(
      ([partition, offset]) => offset > (this.#written.get(partition) ?? 0),
    );
    if (moved.length === 0) return;
    const offsets = Object.fromEntries(moved.map(([partition, offset]) => [`offsets.${partition}`, offset]));
    await this.#options.runQuery(({ positions }) =>
      positions.collection.updateOne(
        { _id: this.#id as never },
        { $max: offsets },
        { upsert: true, writeConcern: { w: 1 } },
      ),
    );
    for (const [partition, offset] of moved) this.#written.set(partition, offset);
  }
}
