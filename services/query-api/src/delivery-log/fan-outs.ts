import { LIVE_RETENTION_MS } from '@webhooks/contracts';
import type { FanOutEntry } from '@webhooks/contracts';
import type { RunQuery } from '@webhooks/mongodb';
import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import { keyOf } from '../payments/event-model.js';
import { expiring } from '../retention.js';

/** An event whose deliveries are made a slice at a time, as a document of the collection `fan_outs`. */
export interface FanOutRow {
  /** `tenantId/eventId`. */
  readonly _id: string;
  readonly isOpen: boolean;
  readonly at: Date;
}

type AskFanOuts = RunQuery<{ readonly fanOuts: Model<FanOutRow> }>;

export function fanOutModelOn(connection: Connection): Model<FanOutRow> {
  const schema = new Schema<FanOutRow>(
    { _id: { type: String, required: true } },
    { versionKey: false, strict: false },
  );
  // As long as `webhooks.fan-outs` keeps a record: one that was damaged ends by then.
  schema.index({ at: 1 }, expiring(LIVE_RETENTION_MS));
  return connection.model<FanOutRow>('FanOut', schema, 'fan_outs');
}

/** Its end may be read before its beginning: that changes nothing then. */
const writeOf = ({ tenantId, eventId, at, isOpen }: FanOutEntry) => {
  const told = { isOpen, at: new Date(at) };
  const update = isOpen ? { $setOnInsert: told } : { $set: told };
  return { updateOne: { filter: { _id: keyOf(tenantId, eventId) }, update, upsert: true } };
};

export async function keepFanOuts(ask: AskFanOuts, entries: readonly FanOutEntry[]): Promise<void> {
  if (entries.length > 0)
    await ask(({ fanOuts }) => fanOuts.bulkWrite(entries.map(writeOf), { ordered: false }));
}

/** Of these events those of which more deliveries will be made. */
export const findOpen = async (ask: AskFanOuts, keys: readonly string[]): Promise<ReadonlySet<string>> =>
  new Set(await ask(({ fanOuts }) => fanOuts.distinct('_id', { _id: { $in: keys }, isOpen: true }).exec()));
