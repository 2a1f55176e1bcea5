import {
  appendAttempt,
  cloudEventHeaders,
  configurationKey,
  deliveryIdOf,
  deriveEventId,
  encodeAttemptPack,
  encodeEvent,
  parseKeyring,
  renderNotification,
  sealSecret,
  taskHeaders,
} from '../../src/index.js';
import type { AttemptLogEntry, ConfigurationRecord, DeliveryTask, PaymentFact } from '../../src/index.js';
import type { Json, Message } from './asyncapi.js';

// Messages as the code makes them, with every member that there is.

const tenantId = 'acme';
const ref = '0190f3c2-7b1a-7c3e-9f54-2d6c8a1b0e4f';
const time = '2026-11-21T14:03:27.512Z';
const millis = Date.parse(time);
export const endToEndId = 'E12345678202611211403a1b2c3d4e5F';
export const txId = '7f3c2b1a9e8d4c5fa6b7c8d9e0f1a2b3';
const rtrId = 'D12345678202611221010a1b2c3d4e5F';

export const paid: PaymentFact = {
  eventType: 'PIX_DYNAMIC_PAID',
  data: { txId, endToEndId, amount: '110.00', paidAt: time, chargeAmount: '110.00' },
};
/** One fact of each type with every field that there is. */
export const FACTS: readonly PaymentFact[] = [
  paid,
  { eventType: 'PIX_STATIC', data: { endToEndId, amount: '25.90', txId: 'LOJA01' } },
  {
    eventType: 'PIX_REVERSAL',
    data: {
      ...{ endToEndId, reversalId: 'dev001', rtrId, amount: '10.00', status: 'DEVOLVIDO' },
      ...{ txId, reason: 'MD06', requestedAt: time, settledAt: time },
    },
  },
  {
    eventType: 'PIX_OUT',
    data: { endToEndId, amount: '1500.00', status: 'REALIZADO', paymentId: 'pay4711', reason: 'AM04' },
  },
];
const eventOf = (fact: PaymentFact) => ({
  id: deriveEventId(tenantId, fact),
  tenantId,
  occurredAt: time,
  ...fact,
});
const jsonOf = (bytes: Buffer): Json => JSON.parse(bytes.toString('utf8')) as Json;

export const eventMessage = (fact: PaymentFact): Message => ({
  key: fact.data.endToEndId,
  headers: cloudEventHeaders(eventOf(fact), '/ingest'),
  value: jsonOf(encodeEvent(eventOf(fact))),
});

/** A task with every member that there is. */
export const taskOf = (fact: PaymentFact): DeliveryTask => ({
  deliveryId: deliveryIdOf(tenantId, ref, eventOf(fact).id),
  cycle: 'r0193510a-7c1e-7b1a-9f54-2d6c8a1b0e4f',
  eventId: eventOf(fact).id,
  eventType: fact.eventType,
  tenantId,
  ref,
  applicationId: 'checkout',
  revision: 3,
  attempt: 3,
  dueAt: millis + 30_000,
  firstDueAt: millis,
  firstAttemptAt: millis + 1,
  deferralCount: 1,
  origin: { topic: 'payments.events', partition: 4, offset: '77' },
  acceptedAt: millis,
  errorCode: 'TLS',
  httpStatus: 503,
  history: appendAttempt(appendAttempt(undefined, { attempt: 1, at: millis, durationMs: 12, result: 503 }), {
    ...{ attempt: 2, at: millis, durationMs: 21, result: 'TLS' },
  }),
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  previousTraceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  body: renderNotification(eventOf(fact)),
});
export const taskMessage = (task: DeliveryTask): Message => ({
  key: task.deliveryId,
  headers: taskHeaders(task),
  value: jsonOf(task.body),
});

export const fullTask = taskOf(paid);

/** The task of an alert with this body. */
export const alertTask = (body: Json): DeliveryTask => ({
  ...fullTask,
  eventType: 'ENDPOINT_ALERT',
  body: Buffer.from(JSON.stringify(body)),
});

const keyring = parseKeyring(`k1:${Buffer.alloc(32, 1).toString('base64')}`);
const sealed = sealSecret(keyring, 'whsec_x', configurationKey(tenantId, ref));
export const configuration: ConfigurationRecord = {
  ...{ v: 1, tenantId, ref, revision: 2, eventType: 'PIX_OUT', endpointUrl: 'https://hook.acme.com.br/' },
  ...{ applicationId: 'checkout', enabled: true, createdAt: time, updatedAt: time },
  secrets: [{ sealed }, { sealed, expiresAt: time }],
  policy: {
    timeoutMs: 1_000,
    maxConcurrency: 1,
    format: 'bacen',
    retryDelays: ['1s'],
    certificateNotAfter: time,
    sealed,
  },
  alert: { format: 'text', language: 'pt-BR' },
};
export const configurationMessage: Message = { key: configurationKey(tenantId, ref), value: configuration };

const base = {
  ...{ deliveryId: fullTask.deliveryId, cycle: '0', eventId: fullTask.eventId, eventType: paid.eventType },
  ...{ tenantId, ref, revision: 3, attempt: 1, at: millis, source: fullTask.origin },
  ...{ acceptedAt: millis, cents: 11_000 },
};
export const ENTRIES: readonly AttemptLogEntry[] = [
  { kind: 'attempt', ...base, durationMs: 12.4, result: 'delivered', status: 200 },
  {
    kind: 'attempt',
    ...base,
    durationMs: 12.4,
    result: 'failed',
    error: 'TLS',
    code: 'EPROTO',
    nextAt: millis,
    traceparent: fullTask.traceparent ?? '',
  },
  { kind: 'deferred', ...base, nextAt: millis, reason: 'fault' },
  { kind: 'cancelled', ...base, reason: 'disabled' },
  { kind: 'dead', ...base, reason: 'expired' },
];
export const packMessage = (entries: readonly AttemptLogEntry[]): Message => ({
  key: '9b1f03ac-17',
  value: jsonOf(encodeAttemptPack(entries)),
});

/** The message with other headers, or other members of its value; an undefined one is left out. */
export const changed = (message: Message, name: 'headers' | 'value', over: Json): Message => ({
  ...message,
  [name]: jsonOf(Buffer.from(JSON.stringify({ ...(message[name] as Json), ...over }))),
});
