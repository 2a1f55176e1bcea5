import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import { v7 as uuidv7 } from 'uuid';

/** The one document that says which reading of the topics is the current one. */
interface GenerationRow {
  _id: 'projections';
  generation: string;
  startedAt: Date;
}

export type GenerationModel = Model<GenerationRow>;

const ID = 'projections';

export const generationModelOn = (connection: Connection): GenerationModel =>
  connection.model<GenerationRow>(
    'Generation',
    new Schema<GenerationRow>(
      {
        _id: { type: String, required: true },
        generation: { type: String, required: true },
        startedAt: { type: Date, required: true },
      },
      { versionKey: false, strict: 'throw', strictQuery: 'throw' },
    ),
    'generations',
  );

/**
 * The current generation: part of the names of the consumer groups and of the positions. A database without one (new, or
 * lost) gets its own, so its groups begin at the oldest record that Kafka holds.
 */
export async function currentGeneration(model: GenerationModel): Promise<string> {
  const known = await model.findById(ID).lean<GenerationRow>().exec();
  if (known) return known.generation;
  const made = await model
    .findOneAndUpdate(
      { _id: ID },
      { $setOnInsert: { generation: uuidv7(), startedAt: new Date() } },
      { upsert: true, returnDocument: 'after' },
    )
    .lean<GenerationRow>()
    .exec();
  return made.generation;
}

/** Begins a new generation: everything that Kafka holds is read again, into the documents that are there. */
export async function beginGeneration(model: GenerationModel): Promise<string> {
  const generation = uuidv7();
  await model
    .updateOne({ _id: ID }, { $set: { generation, startedAt: new Date() } }, { upsert: true })
    .exec();
  return generation;
}
