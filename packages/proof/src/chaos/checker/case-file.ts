import { deliveryIdOf } from '@webhooks/contracts';
import { isHandled } from '../evidence/evidence.js';
import type {
  Arrived,
  DeadSeen,
  EntrySeen,
  Evidence,
  Place,
  TaskSeen,
  TopicEvidence,
} from '../evidence/evidence.js';
import type { SentEvent } from '../generator/generator.js';
import { movedPath } from '../world/configurations.js';
import type { Configuration } from '../world/configurations.js';

/** All evidence of one delivery, which is one pair (event, configuration). */
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

/** Kinds of findings. `chaos.md` lists the bugs that show as each kind. */
export type FindingKind =
  | 'lost'
  | 'not-recovered'
  | 'invented'
  | 'other-bytes'
  | 'too-early'
  | 'unscheduled-attempt'
  | 'too-many-attempts'
  | 'wrong-delay'
  | 'unexplained-repeat'
  | 'not-in-force'
  | 'wrong-signature'
  | 'died-early'
  | 'rejected'
  | 'wrong-log'
  | 'wrong-transaction'
  | 'wrong-statement'
  | 'wrong-configuration'
  | 'not-restored'
  | 'not-stopped';

/** One broken promise of the service. */
export interface Finding {
  readonly kind: FindingKind;
  /** What is wrong, with its figures. */
  readonly text: string;
  /** The delivery concerned; its name and timeline are reported. */
  readonly delivery?: Delivery;
}

/** Kind and text of a finding, before it is assigned to its delivery. */
export type Fault = Pick<Finding, 'kind' | 'text'>;

/** Calls `judge` for each delivery and returns the findings. `judge` returns undefined for a delivery without a fault. */
export const judgeEach = (
  { deliveries }: CaseFile,
  judge: (delivery: Delivery) => Fault | undefined,
): readonly Finding[] =>
  [...deliveries.values()].flatMap((delivery) => {
    const fault = judge(delivery);
    return fault ? [{ ...fault, delivery }] : [];
  });

function makeDeliveries({ configurations, sent, topics }: Evidence): ReadonlyMap<string, Delivery> {
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

/** Assigns every piece of evidence to its delivery, or to the strangers when it belongs to none. */
export function openCaseFile(evidence: Evidence) {
  const { configurations, sent, topics, arrivals } = evidence;
  const deliveries = makeDeliveries(evidence);
  const strangers = [...topics.copies.keys()]
    .filter((id) => !sent.has(id))
    .map((id) => `${id} on payments.events`);
  const put = (deliveryId: string, what: string, add: (delivery: Delivery) => unknown): void => {
    const delivery = deliveries.get(deliveryId);
    if (delivery) add(delivery);
    else strangers.push(what);
  };
  const paths = new Map(
    configurations.flatMap((one) => [one.path, movedPath(one)].map((path) => [path, one])),
  );
  for (const arrived of arrivals) {
    const { tenantId = '', ref = '' } = paths.get(arrived.path) ?? {};
    const what = `arrival of ${arrived.id} at ${arrived.path}`;
    put(deliveryIdOf(tenantId, ref, arrived.id), what, (delivery) => delivery.arrivals.push(arrived));
  }
  for (const task of topics.tasks)
    put(task.deliveryId, `task of ${task.eventId} in ${task.place.topic}`, ({ tasks }) => tasks.push(task));
  for (const seen of topics.entries) {
    const { deliveryId, kind, eventId } = seen.entry;
    put(deliveryId, `${kind} of ${eventId}`, ({ entries }) => entries.push(seen));
  }
  for (const one of topics.dead)
    put(one.deliveryId, `dead letter of ${one.eventId}`, ({ dead }) => dead.push(one));
  return {
    deliveries,
    /** Evidence that belongs to no delivery of this run, in words. */
    strangers: strangers as readonly string[],
  };
}
/** The evidence of a run by delivery, and the evidence that belongs to none. */
export type CaseFile = ReturnType<typeof openCaseFile>;

/** The state of a delivery at the end, according to the receivers and Kafka. */
export type Fate = 'delivered' | 'dead' | 'cancelled' | 'waiting' | 'none';

export const isSuccess = ({ status }: Pick<Arrived, 'status'>): boolean => status >= 200 && status <= 299;

/** A response without an ordinary status may have begun with 2xx: then the worker's report decides. */
function isDelivered({ arrivals, entries }: Delivery): boolean {
  if (arrivals.some(isSuccess)) return true;
  const isReported = entries.some(({ entry }) => entry.kind === 'attempt' && entry.result === 'delivered');
  return isReported && arrivals.some(({ status }) => status === 0);
}

/** Whether the delivery's task, or its event, is not handled yet, so that a worker would still read it. */
function isWaiting({ tasks, copies }: Delivery, topics: TopicEvidence): boolean {
  return [...tasks.map(({ place }) => place), ...copies].some((place) => !isHandled(topics, place));
}

/** Returns the fate of a delivery. With evidence of several fates, the first in this order wins: delivered, dead, cancelled, waiting. */
export function fateOf(delivery: Delivery, topics: TopicEvidence): Fate {
  if (isDelivered(delivery)) return 'delivered';
  if (delivery.dead.length > 0) return 'dead';
  if (delivery.entries.some(({ entry }) => entry.kind === 'cancelled')) return 'cancelled';
  return isWaiting(delivery, topics) ? 'waiting' : 'none';
}
