import type { EndOffsets, PartitionPosition } from '@webhooks/kafka';
import { withDeadline } from '@webhooks/runtime';
import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';

/** How far one topic is projected by all instances together, by partition. */
export interface PositionRow {
  /** `generation/topic`. */
  _id: string;
  offsets: Record<string, number>;
  updatedAt: Date;
}

export type PositionModel = Model<PositionRow>;

export const positionModelOn = (connection: Connection): PositionModel =>
  connection.model<PositionRow>(
    'Position',
    new Schema<PositionRow>(
      {
        _id: { type: String, required: true },
        offsets: { type: Schema.Types.Mixed, required: true },
        updatedAt: { type: Date, required: true },
      },
      { versionKey: false, strict: 'throw', strictQuery: 'throw', minimize: false },
    ),
    'positions',
  );

export interface PositionsOptions {
  readonly generation: string;
  readonly topic: string;
  readonly model: PositionModel;
  /** Positions of the partitions that this instance owns. */
  readonly own: () => readonly PartitionPosition[];
}

const STATEMENT_MS = 2_000;

const covers = (offsets: ReadonlyMap<number, number>, ends: EndOffsets): boolean => {
  for (const [partition, end] of ends) if ((offsets.get(partition) ?? 0) < end) return false;
  return true;
};

/**
 * How far a topic is projected. "Everything below is written" stays true for ever within a generation, so the highest
 * position that any instance has told counts, whoever owns the partition now.
 */
export class Positions {
  readonly #options: PositionsOptions;
  readonly #known = new Map<number, number>();
  readonly #written = new Map<number, number>();

  constructor(options: PositionsOptions) {
    this.#options = options;
  }

  get #id(): string {
    return `${this.#options.generation}/${this.#options.topic}`;
  }

  #raise(partition: number, offset: number): void {
    if (offset > (this.#known.get(partition) ?? 0)) this.#known.set(partition, offset);
  }

  #takeOwn(): void {
    const { own, topic } = this.#options;
    for (const position of own())
      if (position.topic === topic) this.#raise(position.partition, position.offset);
  }

  /** Whether every partition is projected up to these ends, as far as is known here. */
  passed(ends: EndOffsets): boolean {
    this.#takeOwn();
    return covers(this.#known, ends);
  }

  /** Whether some of these partitions are projected by another instance, so that only the database can tell. */
  needsOthers(ends: EndOffsets): boolean {
    const own = new Set(this.#options.own().map(({ partition }) => partition));
    for (const [partition, end] of ends) {
      if (!own.has(partition) && (this.#known.get(partition) ?? 0) < end) return true;
    }
    return false;
  }

  /** Takes over what the other instances have told. */
  async readOthers(): Promise<void> {
    const reading = this.#options.model.findById(this.#id).lean<PositionRow>().exec();
    const row = await withDeadline(reading, STATEMENT_MS, 'reading the positions');
    for (const [partition, offset] of Object.entries(row?.offsets ?? {}))
      this.#raise(Number(partition), offset);
  }

  /** Tells the other instances what moved here since the last time. */
  async write(): Promise<void> {
    this.#takeOwn();
    const moved = [...this.#known].filter(
      ([partition, offset]) => offset > (this.#written.get(partition) ?? 0),
    );
    if (moved.length === 0) return;
    const offsets = Object.fromEntries(moved.map(([partition, offset]) => [`offsets.${partition}`, offset]));
    const writing = this.#options.model.collection.updateOne(
      { _id: this.#id as never },
      { $max: offsets, $set: { updatedAt: new Date() } },
      { upsert: true, writeConcern: { w: 1 } },
    );
    await withDeadline(writing, STATEMENT_MS, 'telling the positions');
    for (const [partition, offset] of moved) this.#written.set(partition, offset);
  }
}
