import { parseAttemptPack, TOPICS } from '@webhooks/contracts';
import { refOf } from '@webhooks/http-api';
import type { Operation } from '@webhooks/http-api';
import type { KafkaRecord } from '@webhooks/kafka';
import { REQUEST_MS } from '@webhooks/mongodb';
import type { Configurations } from '../configurations.js';
import type { Database } from '../database.js';
import { deliveryStoreWithin } from '../delivery-log/delivery-store.js';
import { countPacks, findBuckets } from './count-attempts.js';
import type { ReadPack } from './count-attempts.js';
import { DAY_MS, viewHealth } from './view-health.js';
import { omitUndefined } from '../omit-undefined.js';
import type { OnSkipped, Projection } from '../projection/projection.js';

export interface HealthOptions {
  readonly database: Database;
  readonly configurations: Pick<Configurations, 'current'>;
  readonly onSkipped: OnSkipped;
}

const OLDEST = { order: 'oldest-first', limit: 1 } as const;
/**
 * Time from the start of one batch to the start of the next. Each endpoint needs one write in this time, at any rate of
 * attempts.
 */
const INTERVAL_MS = 500;

/** Form of a pack's id. Other keys identify no pack. */
const PACK_ID = /^[0-9a-f]{8}-\d+$/;

/**
 * Leaves out entries that are dated more than a day ahead: no window counts them, and not every database accepts
 * every year.
 */
function readPack(record: KafkaRecord, onSkipped: OnSkipped): ReadPack | undefined {
  const { partition, offset, key, value } = record;
  const parsed = value === null ? undefined : parseAttemptPack(value);
  if (parsed?.ok !== true) return undefined;
  const { records } = parsed;
  const entries = records.filter(({ at }) => at < Date.now() + DAY_MS);
  if (entries.length < records.length) onSkipped(record, 'dated-ahead');
  return { partition, offset, id: PACK_ID.exec(String(key))?.[0], entries };
}

/** Composes the projection and the query about the health of endpoints, counted from their attempts. */
export function composeHealth({ database, configurations, onSkipped }: HealthOptions) {
  const health = async (tenantId: string, ref: string) => {
    const configuration = await configurations.current(tenantId, ref);
    const [now, pending] = [Date.now(), { ref, status: 'pending' } as const];
    const [buckets, page] = await Promise.all([
      findBuckets(database.within(REQUEST_MS), { tenantId, ref, now }),
      deliveryStoreWithin(database, REQUEST_MS).page(tenantId, pending, OLDEST),
    ]);
    const [oldestUndelivered] = page.rows.map(({ eventId, deliveryId, createdAt }) => ({
      eventId,
      deliveryId,
      at: new Date(createdAt).toISOString(),
    }));
    return { ...viewHealth(ref, configuration, buckets, now), ...omitUndefined({ oldestUndelivered }) };
  };
  const operations: readonly Operation[] = [
    {
      method: 'GET',
      path: '/integration/v1/webhooks/:ref/health',
      scopes: ['delivery.read'],
      handle: async (request) => ({
        status: 200,
        body: await health(request.identity.tenantId, refOf(request)),
      }),
    },
  ];
  return {
    projection: {
      name: 'health',
      topics: [TOPICS.attempts],
      intervalMs: INTERVAL_MS,
      apply: (records) =>
        countPacks(
          database.writing(),
          records.flatMap((record) => readPack(record, onSkipped) ?? []),
        ),
    } satisfies Projection,
    operations,
  };
}
