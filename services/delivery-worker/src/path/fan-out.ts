import { deliveryIdOf, fanOutHeaders, TOPICS } from '@webhooks/contracts';
import type { DeliveryTask, FanOut, FanOutEntry } from '@webhooks/contracts';
import type { Configuration } from '../configurations/configuration.js';
import type { PublishWithRetry } from '../publish/publisher.js';

/** Deliveries in one slice of an event with many webhooks. */
export const SLICE_TASKS = 32;

/** The tasks for the first attempt at each configuration. They share the bytes of the body. */
export const makeTasks = (fanOut: FanOut, configurations: readonly Configuration[]): DeliveryTask[] =>
  configurations.map(({ ref, revision, applicationId }) => ({
    ...fanOut,
    ...{ ref, revision, applicationId },
    deliveryId: deliveryIdOf(fanOut.tenantId, ref, fanOut.eventId),
    ...{ cycle: '0', attempt: 1, deferralCount: 0 },
  }));

/** Publishes an event's deliveries, or the rest of them, to `webhooks.fan-outs`. */
export const publishFanOut = (publish: PublishWithRetry, fanOut: FanOut): Promise<void> =>
  publish({ topic: TOPICS.fanOuts, key: fanOut.eventId, value: fanOut.body, headers: fanOutHeaders(fanOut) });

/** The log entry of a fan-out. `isOpen`: deliveries are still to be made. */
export const fanOutEntry = ({ tenantId, eventId }: FanOut, isOpen: boolean): FanOutEntry => ({
  kind: 'fan-out',
  ...{ tenantId, eventId, at: Date.now(), isOpen },
});
