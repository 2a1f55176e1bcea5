import type { EndOffsets, PartitionPosition } from '@webhooks/kafka';
import type { RunQuery } from '@webhooks/mongodb';
import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';

/** How far one topic is projected by all instances together, by partition; the name of the reading; and the key of cursors. */
export interface PositionRow {
  /** `reading/topic`; see `readingOf` for the other one. */
  readonly _id: string;
  readonly offsets?: Readonly<Record<string, number>>;
  readonly generation?: string;
  readonly key?: string;
}

export type PositionModel = Model<PositionRow>;
export type RunPositionQuery = RunQuery<{ readonly positions: PositionModel }>;

export const positionModelOn = (connection: Connection): PositionModel =>
  connection.model<PositionRow>(
    'Position',
    new Schema<PositionRow>(
      { _id: { type: String, required: true }, offsets: Schema.Types.Mixed, generation: String, key: String },
      { versionKey: false, strict: 'throw', strictQuery: 'throw' },
    ),
    'positions',
  );

export interface PositionsOptions {
  readonly topic: string;
  /** The reading; undefined while it is not known. */
  readonly generation: () => string | undefined;
  readonly runQuery: RunPositionQuery;
  /** Positions of the partitions that this instance owns, of this topic and others. */
  readonly own: () => readonly PartitionPosition[];
}

/**
 * How far a topic is projected. "Everything below is written" stays true within a reading, so the highest
 * position that any instance has written counts, whoever owns the partition now.
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

  /** Takes over how far this instance has got. Gives how far each partition is projected, as far as is known here. */
  takeOwn(): EndOffsets {
    for (const { partition, offset } of this.#own()) this.#raise(partition, offset);
    return new Map(this.#known);
  }

  /** Whether every partition is projected up to these ends, as far as is known here. */
  covers(ends: EndOffsets): boolean {
    for (const [partition, end] of ends) if ((this.#known.get(partition) ?? 0) < end) return false;
    return true;
  }

  /** Whether some of these partitions are projected by another instance, so that only the database can tell. */
  needsOthers(ends: EndOffsets): boolean {
    const own = new Set(this.#own().map(({ partition }) => partition));
    return [...ends.keys()].some((partition) => !own.has(partition));
  }

  /** Takes over what the other instances have written. */
  async readOthers(): Promise<void> {
    const row = await this.#options.runQuery(({ positions }) => positions.findById(this.#id).lean().exec());
    for (const [partition, offset] of Object.entries(row?.offsets ?? {}))
      this.#raise(Number(partition), offset);
  }

  /** How far each partition is projected now, by all instances together. */
  async offsets(): Promise<EndOffsets> {
    await this.readOthers();
    return this.takeOwn();
  }

  /** Writes what moved here since the last time, for the other instances. */
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
