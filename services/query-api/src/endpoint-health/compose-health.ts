import { TOPICS, parseAttemptPack } from '@webhooks/contracts';
import { refOf } from '@webhooks/http-api';
import type { Operation } from '@webhooks/http-api';
import type { KafkaRecord } from '@webhooks/kafka';
import type { Configurations } from '../configurations/open-configurations.js';
import { REQUEST_MS } from '../database.js';
import type { Database } from '../database.js';
import { deliveryStoreWithin } from '../delivery-log/delivery-store.js';
import { present } from '../present.js';
import type { Projection } from '../projection/projection.js';
import type { ReadPack } from './count-attempts.js';
import { countPacks, findBuckets } from './health-store.js';
import { viewHealth } from './view-health.js';
import type { HealthView } from './view-health.js';

export interface HealthOptions {
  readonly database: Database;
  readonly configurations: Pick<Configurations, 'current'>;
}

const OLDEST = { order: 'oldest-first', limit: 1 } as const;
/** Counts are written together: an endpoint costs one write in so long, however much goes to it. Each projection gets on in every second. */
const INTERVAL_MS = 500;

function readPack({ partition, offset, value }: KafkaRecord): ReadPack | undefined {
  const parsed = value === null ? undefined : parseAttemptPack(value);
  return parsed?.ok === true ? { partition, offset, entries: parsed.pack.records } : undefined;
}

/** Health of the endpoints: counted from the attempts, asked for by their integrators. */
export function composeHealth({ database, configurations }: HealthOptions): {
  readonly projection: Projection;
  readonly operations: readonly Operation[];
} {
  const health = async (tenantId: string, ref: string): Promise<HealthView> => {
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
    return { ...viewHealth(ref, configuration, buckets, now), ...present({ oldestUndelivered }) };
  };
  return {
    projection: {
      name: 'health',
      topics: [TOPICS.attempts],
      intervalMs: INTERVAL_MS,
      apply: (records) =>
        countPacks(
          database.writing(),
          records.flatMap((record) => readPack(record) ?? []),
        ),
    },
    operations: [
      {
        method: 'GET',
        path: '/integration/v1/webhooks/:ref/health',
        scopes: ['delivery.read'],
        handle: async (request) => ({
          status: 200,
          body: await health(request.identity.tenantId, refOf(request)),
        }),
      },
    ],
  };
}
