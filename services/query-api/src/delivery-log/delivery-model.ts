import { Schema } from 'mongoose';
import type { Connection, Model } from 'mongoose';
import { attemptsOf } from './delivery.js';
import type { DeadHistory, Delivery, DeliveryStatus, LoggedAttempt } from './delivery.js';
import { placeOf } from './place.js';

type RowAttempt = Omit<LoggedAttempt, 'at' | 'nextAt'> & { readonly at: Date; readonly nextAt?: Date };

/** A delivery as a document of the collection `deliveries`; what a list shows of it is derived and stored beside. */
export interface DeliveryRow {
  readonly _id: string;
  readonly tenantId: string;
  readonly ref: string;
  readonly eventId: string;
  readonly eventType: Delivery['eventType'];
  readonly status: DeliveryStatus;
  readonly cycle: string;
  /** Attempt and moment of the entry that decided the status. */
  readonly stateAttempt: number;
  readonly stateAt: Date;
  readonly reason?: string;
  readonly nextAt?: Date;
  readonly parkedUntil?: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastAttempt?: number;
  readonly lastStatus?: number;
  readonly lastError?: string;
  readonly attempts: readonly RowAttempt[];
  readonly truncated?: true;
  readonly history?: DeadHistory;
  /** See `placeOf`. */
  readonly place: string;
  readonly expiresAt: Date;
  /** Rises with each write, from 1. */
  readonly version: number;
}

/** What a list shows of a delivery. */
export type DeliverySummaryRow = Omit<DeliveryRow, 'attempts' | 'history'>;
export type DeliveryModel = Model<DeliveryRow>;

const DAY_MS = 86_400_000;
/** A delivery of which nothing was heard for so long is forgotten. */
const KEPT_MS = 30 * DAY_MS;

const text = { type: String, required: true } as const;
const time = { type: Date, required: true } as const;
const count = { type: Number, required: true } as const;

function createSchema(): Schema<DeliveryRow> {
  const schema = new Schema<DeliveryRow>(
    {
      _id: text,
      tenantId: text,
      ref: text,
      eventId: text,
      eventType: text,
      status: text,
      cycle: text,
      stateAttempt: count,
      stateAt: time,
      reason: { type: String },
      nextAt: { type: Date },
      parkedUntil: { type: Date },
      createdAt: time,
      updatedAt: time,
      lastAttempt: { type: Number },
      lastStatus: { type: Number },
      lastError: { type: String },
      attempts: { type: [Schema.Types.Mixed], required: true },
      truncated: { type: Boolean },
      history: { type: Schema.Types.Mixed },
      place: text,
      expiresAt: time,
      version: count,
    },
    { versionKey: false, strict: 'throw', strictQuery: 'throw' },
  );
  // Each one costs every delivery. Lists, counts and jobs, with any of status, type and times (delivery-filter.ts):
  schema.index({ tenantId: 1, status: 1, eventType: 1, place: 1 });
  // the same of one endpoint, and the oldest pending delivery of its health;
  schema.index({ tenantId: 1, ref: 1, status: 1, place: 1 });
  // the deliveries of one event: one for each endpoint at most;
  schema.index({ tenantId: 1, eventId: 1 });
  // and retention: the database itself removes what expired.
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return schema;
}

export const deliveryModelOn = (connection: Connection): DeliveryModel =>
  connection.model<DeliveryRow>('Delivery', createSchema(), 'deliveries');

const toRowAttempt = ({ at, nextAt, ...rest }: LoggedAttempt): RowAttempt => ({
  ...rest,
  at: new Date(at),
  ...(nextAt === undefined ? {} : { nextAt: new Date(nextAt) }),
});

function stateFields({ state }: Delivery) {
  const { cycle, status, attempt, at, reason, nextAt, parked } = state;
  const next = nextAt === undefined ? undefined : new Date(nextAt);
  return {
    status,
    cycle,
    stateAttempt: attempt,
    stateAt: new Date(at),
    ...(reason === undefined ? {} : { reason }),
    ...(next ? { nextAt: next } : {}),
    ...(next && parked ? { parkedUntil: next } : {}),
  };
}

function lastFields(delivery: Delivery) {
  const last = attemptsOf(delivery).at(-1);
  return {
    ...(last ? { lastAttempt: last.attempt } : {}),
    ...(last?.status === undefined ? {} : { lastStatus: last.status }),
    ...(last?.error === undefined ? {} : { lastError: last.error }),
  };
}

/** A delivery as its document. */
export function toRow(delivery: Delivery, version: number): DeliveryRow {
  const { deliveryId, tenantId, ref, eventId, eventType, createdAt, updatedAt } = delivery;
  const { attempts, truncated, history } = delivery;
  return {
    _id: deliveryId,
    tenantId,
    ref,
    eventId,
    eventType,
    ...stateFields(delivery),
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
    ...lastFields(delivery),
    attempts: attempts.map(toRowAttempt),
    ...(truncated ? { truncated } : {}),
    ...(history ? { history } : {}),
    place: placeOf(createdAt, deliveryId),
    expiresAt: new Date(updatedAt + KEPT_MS),
    version,
  };
}

const toAttempt = ({ at, nextAt, ...rest }: RowAttempt): LoggedAttempt => ({
  ...rest,
  at: at.getTime(),
  ...(nextAt ? { nextAt: nextAt.getTime() } : {}),
});

/** A document as the delivery it was made of. */
export function toDelivery(row: DeliveryRow): Delivery {
  const { _id, tenantId, ref, eventId, eventType, truncated, history } = row;
  const { cycle, status, stateAttempt, stateAt, reason, nextAt, parkedUntil } = row;
  return {
    deliveryId: _id,
    tenantId,
    ref,
    eventId,
    eventType,
    createdAt: row.createdAt.getTime(),
    updatedAt: row.updatedAt.getTime(),
    state: {
      cycle,
      status,
      attempt: stateAttempt,
      at: stateAt.getTime(),
      ...(reason === undefined ? {} : { reason }),
      ...(nextAt ? { nextAt: nextAt.getTime() } : {}),
      ...(parkedUntil ? { parked: true } : {}),
    },
    attempts: row.attempts.map(toAttempt),
    ...(truncated ? { truncated } : {}),
    ...(history ? { history } : {}),
  };
}
