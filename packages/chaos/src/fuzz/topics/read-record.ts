import { TOPICS, parseConfigurationRecord, parseDeliveryTask, readEvent } from '@webhooks/contracts';
import type { ConfigurationRecord, DeliveryTask, PaymentEvent } from '@webhooks/contracts';
import type { FuzzRecord } from './fuzz-record.js';

/** What of a task says what has to become of it. */
export type NamedTask = Pick<
  DeliveryTask,
  'deliveryId' | 'cycle' | 'attempt' | 'eventId' | 'eventType' | 'tenantId' | 'ref' | 'applicationId'
>;

type Read<T> = { readonly ok: true; readonly is: T } | { readonly ok: false; readonly reason: string };

/** An undamaged value is taken by its word: a parser that refuses it is at fault. */
const meant = ({ value }: FuzzRecord): unknown => JSON.parse(value?.toString('utf8') ?? '');

/** An event as its maker meant it, or as the services read it when it is not as it was made. */
export function eventOf(record: FuzzRecord): Read<PaymentEvent> {
  if (record.isValid) return { ok: true, is: meant(record) as PaymentEvent };
  const read = readEvent(record.value);
  return read.ok ? { ok: true, is: read.event } : read;
}

/** A task, as above. */
export function taskOf(record: FuzzRecord): Read<NamedTask> {
  if (!record.isValid) {
    const parsed = parseDeliveryTask(record.headers, record.value);
    return parsed.ok ? { ok: true, is: parsed.task } : parsed;
  }
  const say = (name: string): string => String(record.headers[name]);
  const is = {
    deliveryId: say('delivery-id'),
    cycle: say('cycle'),
    attempt: Number(say('attempt')),
    eventId: say('event-id'),
    eventType: say('event-type') as NamedTask['eventType'],
    tenantId: say('tenant-id'),
    ref: say('configuration-ref'),
  };
  return { ok: true, is };
}

/** A configuration, as above; undefined for what is none. */
export function configurationOf(record: FuzzRecord): ConfigurationRecord | undefined {
  if (record.topic !== TOPICS.configurations) return undefined;
  if (record.isValid) return meant(record) as ConfigurationRecord;
  const parsed = record.value ? parseConfigurationRecord(record.value) : undefined;
  return parsed?.ok ? parsed.configuration : undefined;
}
