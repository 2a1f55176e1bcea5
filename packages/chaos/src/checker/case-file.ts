import { deliveryIdOf } from '@webhooks/contracts';
import type { Arrived, DeadSeen, EntrySeen, Evidence, Place, TaskSeen } from '../evidence/evidence.js';
import { movedPath } from '../world/configurations.js';
import type { Configuration } from '../world/configurations.js';
import type { SentEvent } from '../generator/journal.js';

/** All that is known of one delivery: one (event, configuration). */
export interface Delivery {
  readonly deliveryId: string;
  readonly sent: SentEvent;
  readonly configuration: Configuration;
  readonly copies: readonly Place[];
  readonly arrivals: Arrived[];
  readonly tasks: TaskSeen[];
  readonly entries: EntrySeen[];
  readonly dead: DeadSeen[];
}

/** Evidence, sorted by delivery. */
export interface CaseFile {
  readonly deliveries: ReadonlyMap<string, Delivery>;
  /** What belongs to no event of this run and a configuration that wants it. */
  readonly strangers: readonly string[];
}

/** The configuration behind each path, both paths of one that is moved. */
function byPath(configurations: readonly Configuration[]): Map<string, Configuration> {
  const known = new Map<string, Configuration>();
  for (const configuration of configurations) {
    known.set(configuration.path, configuration);
    if (configuration.treatment === 'moved') known.set(movedPath(configuration), configuration);
  }
  return known;
}

function makeDeliveries({ configurations, sent, topics }: Evidence): Map<string, Delivery> {
  const deliveries = new Map<string, Delivery>();
  const routeOf = (tenantId: string, eventType: string): string => `${tenantId} ${eventType}`;
  const routes = Map.groupBy(configurations, ({ tenantId, eventType }) => routeOf(tenantId, eventType));
  for (const one of sent.values()) {
    const { tenantId, eventType, id } = one.event;
    const copies = topics.copies.get(id) ?? [];
    for (const configuration of routes.get(routeOf(tenantId, eventType)) ?? []) {
      const deliveryId = deliveryIdOf(tenantId, configuration.ref, id);
      const none = { arrivals: [], tasks: [], entries: [], dead: [] };
      deliveries.set(deliveryId, { deliveryId, sent: one, configuration, copies, ...none });
    }
  }
  return deliveries;
}

type Put = (deliveryId: string, what: string, add: (delivery: Delivery) => unknown) => void;

function putArrivals(
  evidence: Evidence,
  configurationAt: ReadonlyMap<string, Configuration>,
  put: Put,
): void {
  for (const arrived of evidence.arrivals) {
    const { tenantId = '', ref = '' } = configurationAt.get(arrived.path) ?? {};
    put(deliveryIdOf(tenantId, ref, arrived.id), `arrival of ${arrived.id} at ${arrived.path}`, (delivery) =>
      delivery.arrivals.push(arrived),
    );
  }
}

function putRecords({ topics }: Evidence, put: Put): void {
  for (const task of topics.tasks)
    put(task.deliveryId, `task of ${task.eventId} in ${task.place.topic}`, ({ tasks }) => tasks.push(task));
  for (const seen of topics.entries)
    put(seen.entry.deliveryId, `${seen.entry.kind} of ${seen.entry.eventId}`, ({ entries }) =>
      entries.push(seen),
    );
  for (const one of topics.dead)
    put(one.deliveryId, `dead letter of ${one.eventId}`, ({ dead }) => dead.push(one));
}

/** Puts every piece of evidence to its delivery; what has none is a stranger. */
export function openCaseFile(evidence: Evidence): CaseFile {
  const deliveries = makeDeliveries(evidence);
  const strangers = [...evidence.topics.copies.keys()]
    .filter((id) => !evidence.sent.has(id))
    .map((id) => `${id} on payments.events`);
  const put: Put = (deliveryId, what, add) => {
    const delivery = deliveries.get(deliveryId);
    if (delivery) add(delivery);
    else strangers.push(what);
  };
  putArrivals(evidence, byPath(evidence.configurations), put);
  putRecords(evidence, put);
  return { deliveries, strangers };
}
