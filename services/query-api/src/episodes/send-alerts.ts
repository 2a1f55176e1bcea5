import { ALERT_KIND, deliveryIdOf } from '@webhooks/contracts';
import { REQUEST_MS } from '@webhooks/mongodb';
import type { Configurations } from '../configurations.js';
import type { Database } from '../database.js';
import { FIRST_CYCLE } from '../delivery-log/delivery-state.js';
import type { DeliveryStatus } from '../delivery-log/delivery-state.js';
import { deliveryStoreWithin } from '../delivery-log/delivery-store.js';
import { MAX_STATEMENT } from '../documents.js';
import { DAY_MS, WARNING_MS } from '../endpoint-health/health-bucket.js';
import { omitUndefined } from '../omit-undefined.js';
import { idOf } from '../payments/event-store.js';
import type { CatchUpResult } from '../projection/catch-up.js';
import { makeTask } from '../redelivery/redelivery-task.js';
import type { PublishTasks } from '../redelivery/redelivery-task.js';
import { factsOf, markReported } from './episode.js';
import type { AlertFact } from './episode.js';
import { changeEpisodes, findEpisodes, findOutbox, writeOutbox } from './episode-store.js';
import type { OutboxRow } from './episode-store.js';
import { makeAlert, renderAlert, utc } from './render-alert.js';
import type { Alert } from './render-alert.js';

/** Alerts of one tenant at once. Of more facts than this, one alert of each kind carries the count. */
const MAX_ALERTS = 20;
/** A tenant gets alerts once in this share of the time after which an endpoint counts as failing: once a minute. */
const SHARE = 5;

export interface AlertPorts {
  readonly database: Pick<Database, 'writing' | 'within'>;
  readonly configurations: Pick<Configurations, 'known' | 'alertEndpointsOf' | 'upToDate' | 'all'>;
  /** Waits until all attempts that are on the topic now are recorded. */
  readonly catchUp: () => Promise<CatchUpResult>;
  readonly publish: PublishTasks;
  readonly failingAfterMs: number;
  readonly now: () => number;
}

/** A fact with the id of its document. */
type StoredFact = AlertFact & { readonly id: string };

/**
 * Older facts are marked and not sent: a database that is built anew must not send old alerts again. The one alert of a
 * certificate is the same then.
 */
const isSent = ({ kind, at }: AlertFact, now: number): boolean => kind === 'expiring' || at > now - DAY_MS;

async function makeOwn(tenantId: string, fact: StoredFact, ports: AlertPorts): Promise<Alert> {
  const { kind, at } = fact;
  const ref = idOf(fact.id);
  const endpointUrl = ports.configurations.known(tenantId, ref)?.endpointUrl;
  const store = deliveryStoreWithin(ports.database, REQUEST_MS);
  /** Undefined when there are too many to count. */
  const count = async (status: DeliveryStatus): Promise<number | undefined> => {
    const { matched, isLowerBound } = await store.count(tenantId, { ref, status }, MAX_STATEMENT, REQUEST_MS);
    return isLowerBound ? undefined : matched;
  };
  return makeAlert(tenantId, fact, {
    ref,
    ...omitUndefined({ endpointUrl, waiting: await count('pending') }),
    ...omitUndefined({ count: kind === 'dead' ? await count('dead') : undefined }),
    ...(kind === 'expiring' && { notAfter: utc(at + WARNING_MS) }),
  });
}

/** Makes an alert of each fact; of many facts one alert of each kind. */
function makeAlerts(
  tenantId: string,
  facts: readonly StoredFact[],
  ports: AlertPorts,
): Promise<readonly Alert[]> {
  if (facts.length <= MAX_ALERTS) return Promise.all(facts.map((fact) => makeOwn(tenantId, fact, ports)));
  const now = ports.now();
  const counts = [...Map.groupBy(facts, ({ kind }) => kind)].map(([kind, { length: count }]) =>
    makeAlert(tenantId, { kind, at: now }, { count }),
  );
  return Promise.resolve(counts);
}

/** Marks the facts, publishes the alerts and empties the outbox. A crash repeats it with the same bytes. */
async function empty(tenantId: string, outbox: OutboxRow, ports: AlertPorts): Promise<void> {
  const { _id, version, filledAt, tasks, facts } = outbox;
  const { database, configurations, publish } = ports;
  await changeEpisodes(
    database,
    Map.groupBy(facts, ({ id }) => id),
    markReported,
  );
  const made = tasks.flatMap(({ ref, eventId, body }) => {
    const configuration = configurations.known(tenantId, ref);
    const deliveryId = deliveryIdOf(tenantId, ref, eventId);
    const options = { cycle: FIRST_CYCLE, now: filledAt, body: Buffer.from(body) };
    const delivery = { deliveryId, tenantId, ref, eventId, eventType: ALERT_KIND } as const;
    return configuration ? [makeTask(delivery, configuration, options)] : [];
  });
  await publish(made);
  const emptied = { tasks: [], facts: [], closedAt: new Date(filledAt) };
  await writeOutbox(database, { _id, version: version + 1, filledAt, ...emptied });
}

/**
 * Sends the alerts of one tenant: about these endpoints, or what an earlier run left in the outbox. Several instances may
 * do so at once: each step is idempotent, and one of them fills the outbox. The outbox stores the bytes, so that an id
 * never has two bodies.
 */
export async function sendAlerts(tenantId: string, ids: readonly string[], ports: AlertPorts): Promise<void> {
  const { database, configurations, failingAfterMs } = ports;
  const now = ports.now();
  // Before the endpoints: a fact that is still not reported after the outbox was read is in no other batch.
  const outbox = await findOutbox(database, tenantId);
  if (outbox.open) return empty(tenantId, outbox, ports);
  if (now < outbox.filledAt + failingAfterMs / SHARE) return;
  const rows = await findEpisodes(database.writing(), ids);
  const facts = rows.flatMap((row) =>
    factsOf(row, now, failingAfterMs).map((fact) => ({ ...fact, id: row._id })),
  );
  if (facts.length === 0) return;
  const sent = facts.filter((fact) => isSent(fact, now));
  const alerts = await makeAlerts(tenantId, sent, ports);
  const tasks = configurations
    .alertEndpointsOf(tenantId)
    .flatMap(({ ref, alert: settings }) =>
      alerts.map((alert) => ({ ref, eventId: alert.event.id, body: renderAlert(alert, settings) })),
    );
  const marked = facts.map(({ id, kind, at }) => ({ id, kind, at }));
  const { _id, version } = outbox;
  const filled = { _id, version: version + 1, open: 'yes', filledAt: now, tasks, facts: marked } as const;
  if (await writeOutbox(database, filled)) await empty(tenantId, filled, ports);
}
