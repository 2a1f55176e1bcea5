import type { DeliveryPolicy } from '@webhooks/contracts';
import { openConnection } from '@webhooks/mongodb';
import type { MongodbSettings } from '@webhooks/mongodb';
import type { ServiceScope } from '@webhooks/runtime';
import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import { hasEnded, idOf, routeKeyOf } from '../webhooks/configuration.js';
import type { Configuration } from '../webhooks/configuration.js';
import type { FieldChange } from '../webhooks/describe-change.js';

/** A change of a configuration. It never has a secret value, and knows people by opaque ids alone. */
export interface ChangeEntry {
  readonly at: Date;
  readonly action: string;
  /** Id of the client whose token made the change. */
  readonly client: string;
  /** Subject of the token, when the client acted for a person. */
  readonly person?: string;
  readonly revision: number;
  readonly fields: readonly FieldChange[];
}

/** A configuration as a document of the collection `configurations`. */
export interface ConfigurationRow extends Omit<Configuration, 'policy'> {
  /** `tenantId/ref`: a ref is unique within its tenant. */
  readonly _id: string;
  /** Derived from tenant, application, event type and URL; see `routeKeyOf`. Absent: the alert endpoint has ended. */
  readonly routeKey?: string;
  /** Present while `publishedRevision` is lower than `revision`. */
  readonly unpublished?: boolean;
  /** Absent: empty. */
  readonly policy?: DeliveryPolicy;
  /** The last changes, the newest last. Left out of every read that does not name it; absent in old documents. */
  readonly changes?: readonly ChangeEntry[];
}

export type ConfigurationModel = Model<ConfigurationRow>;

const text = { type: String, required: true } as const;
const count = { type: Number, required: true } as const;
const time = { type: Date, required: true } as const;

function createSchema(): Schema<ConfigurationRow> {
  const secret = new Schema(
    { sealed: text, createdAt: { type: Date }, expiresAt: { type: Date } },
    { _id: false },
  );
  const schema = new Schema<ConfigurationRow>(
    {
      _id: text,
      tenantId: text,
      ref: text,
      position: count,
      routeKey: { type: String },
      revision: count,
      publishedRevision: count,
      unpublished: { type: Boolean },
      eventType: text,
      endpointUrl: text,
      normalizedUrl: text,
      applicationId: { type: String },
      enabled: { type: Boolean, required: true },
      createdAt: time,
      updatedAt: time,
      secrets: { type: [secret], required: true },
      policy: { type: Schema.Types.Mixed },
      alert: { type: Schema.Types.Mixed },
      changes: { type: [Schema.Types.Mixed], default: undefined, select: false },
    },
    { versionKey: false, strict: 'throw', strictQuery: 'throw' },
  );
  // The position determines the limit of a tenant and the order of its list.
  schema.index({ tenantId: 1, position: 1 }, { unique: true });
  schema.index({ routeKey: 1 }, { unique: true, sparse: true });
  schema.index({ unpublished: 1 }, { sparse: true });
  return schema;
}

export const modelOn = (connection: Connection): ConfigurationModel =>
  connection.model<ConfigurationRow>('Configuration', createSchema(), 'configurations');

/** Returns the configuration of a document. */
export function toConfiguration(row: ConfigurationRow): Configuration {
  const { _id, routeKey, unpublished, changes, policy = {}, ...rest } = row;
  return { ...rest, policy };
}

/** Returns the document of a configuration, with the derived fields. */
export function toRow(configuration: Configuration): ConfigurationRow {
  return {
    _id: idOf(configuration),
    ...configuration,
    ...(hasEnded(configuration) ? {} : { routeKey: routeKeyOf(configuration.tenantId, configuration) }),
    ...(configuration.publishedRevision < configuration.revision ? { unpublished: true } : {}),
  };
}

/** Undefined until the first connection is open and its unique indexes exist: nothing may be written before. */
export type Database = () => ConfigurationModel | undefined;

/** Opens the database of the configurations; `openConnection` describes how it stays connected. */
export function openDatabase(settings: MongodbSettings, scope: ServiceScope): Promise<Database> {
  const prepare = (model: ConfigurationModel) => model.createIndexes();
  return openConnection(settings, { modelsOn: modelOn, prepare }, scope);
}
