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
import { DAY_MS } from './health-bucket.js';
import { viewHealth } from './view-health.js';
import { findEpisodes } from '../episodes/episode-store.js';
import { recordEpisodes } from '../episodes/record-episodes.js';
import { omitUndefined } from '../omit-undefined.js';
import { keyOf } from '../payments/event-store.js';
import type { OnSkipped, Projection } from '../projection/projection.js';

export interface HealthOptions {
  readonly database: Database;
  readonly configurations: Pick<Configurations, 'current'>;
  /** An episode counts as failing this long after its first failure. */
  readonly failingAfterMs: number;
  readonly onSkipped: OnSkipped;
}

/** Name of the projection, and of its positions: another one reads the same topic. */
export const HEALTH = 'health';

const OLDEST = { order: 'oldest-first', limit: 1 } as const;
/** Time from one fetch of a broker to the next, milliseconds. Each endpoint needs one or two writes for each fetch, at any rate of attempts. */
const INTERVAL_MS = 500;

/** Form of a pack's id. Other keys identify no pack. */
const PACK_ID = /^[0-9a-f]{8}-\d+$/;

/**
 * Leaves out entries that are dated more than a day ahead: no window counts them, and not every database accepts
 * every year.
 */
function readPack(record: KafkaRecord, onSkipped: OnSkipped): ReadPack | undefined {
  const { partition, offset, key, value, timestamp } = record;
  const parsed = value === null ? undefined : parseAttemptPack(value);
  if (parsed?.ok !== true) return undefined;
  const { records } = parsed;
  const entries = records.filter(({ at }) => at < Date.now() + DAY_MS);
  if (entries.length < records.length) onSkipped(record, 'dated-ahead');
  // What is reported began before the broker appended the report: otherwise the worker's clock is ahead.
  const ahead = Math.max(0, ...entries.map(({ at }) => at - timestamp));
  const timed = entries.map((entry) => ({ ...entry, at: entry.at - ahead }));
  return { partition, offset, id: PACK_ID.exec(String(key))?.[0], entries: timed };
}

/** Composes the projection and the query about the health of endpoints, counted from their attempts. */
export function composeHealth({ database, configurations, failingAfterMs, onSkipped }: HealthOptions) {
  const healthOf = async (tenantId: string, ref: string) => {
    const configuration = await configurations.current(tenantId, ref);
    const [now, pending] = [Date.now(), { ref, status: 'pending' } as const];
    const [buckets, [episodes], page] = await Promise.all([
      findBuckets(database.within(REQUEST_MS), { tenantId, ref, now }),
      findEpisodes(database.within(REQUEST_MS), [keyOf(tenantId, ref)]),
      deliveryStoreWithin(database, REQUEST_MS).page(tenantId, pending, OLDEST),
    ]);
    const [oldestUndelivered] = page.rows.map(({ eventId, deliveryId, createdAt }) => ({
      eventId,
      deliveryId,
      at: new Date(createdAt).toISOString(),
    }));
    const health = viewHealth(ref, { ...configuration, episode: episodes?.current }, buckets, now);
    return { ...health, ...omitUndefined({ oldestUndelivered }) };
  };
  const operations: readonly Operation[] = [
    {
      method: 'GET',
      path: '/integration/v1/webhooks/:ref/health',
      scopes: ['delivery.read'],
      handle: async (request) => ({
        status: 200,
        body: await healthOf(request.identity.tenantId, refOf(request)),
      }),
    },
  ];
  return {
    projection: {
      name: HEALTH,
      topics: [TOPICS.attempts],
      intervalMs: INTERVAL_MS,
      positionsName: HEALTH,
      apply: async (records) => {
        const packs = records.flatMap((record) => readPack(record, onSkipped) ?? []);
        await countPacks(database.writing(), packs);
        const entries = packs.flatMap((pack) => pack.entries);
        await recordEpisodes(database, entries, failingAfterMs);
      },
    } satisfies Projection,
    operations,
  };
}
