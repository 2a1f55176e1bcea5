import { configurationKey } from '@webhooks/contracts';
import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';

/** An endpoint to which something was delivered once: a document of the collection `endpoints`. */
export interface EndpointRow {
  /** `tenantId/ref`. */
  readonly _id: string;
  readonly tenantId: string;
  readonly ref: string;
}

export type EndpointModel = Model<EndpointRow>;

const text = { type: String, required: true } as const;

export function endpointModelOn(connection: Connection): EndpointModel {
  const schema = new Schema<EndpointRow>(
    { _id: text, tenantId: text, ref: text },
    { versionKey: false, strict: 'throw', strictQuery: 'throw' },
  );
  schema.index({ tenantId: 1 });
  return connection.model<EndpointRow>('Endpoint', schema, 'endpoints');
}

export const toEndpointRow = ({ tenantId, ref }: Omit<EndpointRow, '_id'>): EndpointRow => ({
  _id: configurationKey(tenantId, ref),
  tenantId,
  ref,
});
