import { ALERT_KIND, deliveryIdOf } from '@webhooks/contracts';
import type { Configurations } from '../configurations.js';
import type { Database } from '../database.js';
import { FIRST_CYCLE } from '../delivery-log/delivery-state.js';
import type { DeliveryStatus } from '../delivery-log/delivery-state.js';
import { DAY_MS } from '../endpoint-health/view-health.js';
import { omitUndefined } from '../omit-undefined.js';
import { idOf } from '../payments/event-store.js';
import { makeTask } from '../redelivery/redelivery-task.js';
import type { PublishTasks } from '../redelivery/redelivery-task.js';
import { factsOf, markTold } from './alert-facts.js';
import type { AlertFact } from './alert-facts.js';
import { changeEpisodes, findEpisodes, findOutbox, writeOutbox } from './episode-store.js';
import type { OutboxRow } from './episode-store.js';
import { makeAlert, renderAlert, utc, withoutQuery } from './render-alert.js';
import type { Alert } from './render-alert.js';

/** Alerts of one tenant at once. Of more facts than this, one alert of each kind carries the count. */
const MAX_ALERTS = 20;
/** A tenant gets alerts once in this share of the time after which an endpoint counts as failing: once a minute. */
const SHARE = 5;

export interface AlertPorts {
  readonly database: Pick<Database, 'writing'>;
  readonly configurations: Pick<Configurations, 'known' | 'alertEndpointsOf'>;
  /** Returns the number of an endpoint's deliveries that have a status. */
  readonly countDeliveries: (tenantId: string, ref: string, status: DeliveryStatus) => Promise<number>;
  readonly publish: PublishTasks;
  readonly failingAfterMs: number;
  readonly now: () => number;
}

/** A fact with the id of its document. */
interface StoredFact extends AlertFact {
  readonly id: string;
}

/**
 * Older facts are marked and not sent: a database that is built anew must not send old alerts again. The one alert of a
 * certificate is the same then.
 */
const isSent = ({ kind, at }: AlertFact, now: number): boolean => kind === 'expiring' || at > now - DAY_MS;

async function makeOwn(tenantId: string, fact: StoredFact, ports: AlertPorts): Promise<Alert> {
  const { kind, key } = fact;
  const ref = idOf(fact.id);
  const url = ports.configurations.known(tenantId, ref)?.endpointUrl;
  const count = (status: DeliveryStatus) => ports.countDeliveries(tenantId, ref, status);
  const about = {
    ...{ ref, endpointUrl: url && withoutQuery(url), waiting: await count('pending') },
    count: kind === 'dead' ? await count('dead') : undefined,
    notAfter: kind === 'expiring' ? utc(key) : undefined,
  };
  return makeAlert(tenantId, fact, omitUndefined(about));
}

/** Makes one alert about many endpoints for each kind of facts. */
const makeCounts = (tenantId: string, facts: readonly StoredFact[], now: number): readonly Alert[] =>
  [...Map.groupBy(facts, ({ kind }) => kind)].map(([kind, some]) => {
    const refs = some.slice(0, MAX_ALERTS).map(({ id }) => idOf(id));
    return makeAlert(tenantId, { kind, at: now, key: now }, { refs, count: some.length });
  });

/** Returns the outbox with the alerts of these facts. Their bytes are stored, so that an id never has two bodies. */
async function fill(
  tenantId: string,
  { _id, version }: OutboxRow,
  facts: readonly StoredFact[],
  ports: AlertPorts,
): Promise<OutboxRow> {
  const now = ports.now();
  const sent = facts.filter((fact) => isSent(fact, now));
  const alerts =
    sent.length > MAX_ALERTS
      ? makeCounts(tenantId, sent, now)
      : await Promise.all(sent.map((fact) => makeOwn(tenantId, fact, ports)));
  const endpoints = ports.configurations.alertEndpointsOf(tenantId);
  const tasks = endpoints.flatMap(({ ref, alert: settings }) =>
    alerts.map((alert) => ({ ref, eventId: alert.event.id, body: renderAlert(alert, settings) })),
  );
  const marked = facts.map(({ id, kind, key }) => ({ id, kind, key }));
  return { _id, version: version + 1, open: 'yes', filledAt: now, tasks, facts: marked };
}

/** Marks the facts, publishes the alerts and empties the outbox. A crash repeats it with the same bytes. */
async function empty(tenantId: string, outbox: OutboxRow, ports: AlertPorts): Promise<void> {
  const { _id, version, filledAt, tasks, facts } = outbox;
  const { database, configurations, publish } = ports;
  await changeEpisodes(
    database,
    Map.groupBy(facts, ({ id }) => id),
    markTold,
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
 * do so at once: each step is idempotent, and one of them fills the outbox.
 */
export async function sendAlerts(tenantId: string, ids: readonly string[], ports: AlertPorts): Promise<void> {
  const { database, failingAfterMs } = ports;
  const now = ports.now();
  // Before the endpoints: a fact that is still untold after the outbox was read is in no other batch.
  const outbox = await findOutbox(database, tenantId);
  if (outbox.open) return empty(tenantId, outbox, ports);
  if (now < outbox.filledAt + failingAfterMs / SHARE) return;
  const rows = await findEpisodes(database.writing(), ids);
  const moment = { now, failingAfterMs };
  const facts = rows.flatMap((row) => factsOf(row, moment).map((fact) => ({ ...fact, id: row._id })));
  if (facts.length === 0) return;
  const filled = await fill(tenantId, outbox, facts, ports);
  if (await writeOutbox(database, filled)) await empty(tenantId, filled, ports);
}
