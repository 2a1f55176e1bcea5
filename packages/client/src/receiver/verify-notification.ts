import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { EventType, Notification } from '../types/event-types.js';
import { isObject } from '../calls/parse-response.js';

/**
 * Why a request is no notification. `missing-headers`: it has no signature. `wrong-secret`: it is signed with another secret, perhaps by
 * somebody else. `rewritten-body`: the body was parsed and serialized again. `base64-body`: the body is still in the base64 of Lambda.
 * `clock`: the clocks differ, or the request is a replay. `too-large`: the receiver accepts no body of this length. `not-a-notification`:
 * the signed body has another form.
 */
export type NotificationFault =
  | 'missing-headers'
  | 'wrong-secret'
  | 'rewritten-body'
  | 'base64-body'
  | 'clock'
  | 'too-large'
  | 'not-a-notification';

/** A request that must not be acted on. */
export class NotificationError extends Error {
  readonly reason: NotificationFault;
  /** The status of the response; Express reads it from the error. */
  readonly status: 401 | 413;

  constructor(reason: NotificationFault, message: string) {
    super(`${reason}: ${message}`);
    this.name = 'NotificationError';
    this.reason = reason;
    this.status = reason === 'too-large' ? 413 : 401;
  }
}

/** Headers of a request, as Node, Express, Lambda or fetch have them; the values may be lists. */
export type NotificationHeaders =
  Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null };

/** The members of a notification in rendered order: those of every notification, then those of `data` by event type. */
const ENVELOPE = ['id', 'eventType', 'occurredAt', 'data'];
const DATA: Readonly<Record<EventType, string>> = {
  PIX_DYNAMIC_PAID: 'txId endToEndId amount paidAt chargeAmount',
  PIX_STATIC: 'endToEndId amount txId',
  PIX_REVERSAL: 'endToEndId reversalId rtrId amount status txId reason requestedAt settledAt',
  PIX_OUT: 'endToEndId amount status paymentId reason',
};

/** Base64 of `{"`, with which every body begins. */
const BASE64_START = 'eyJ';

const SIGNATURE = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
type SignatureHeaders = Readonly<Record<(typeof SIGNATURE)[number], string>>;

function headerOf(headers: NotificationHeaders, name: string): string {
  if (typeof headers.get === 'function') return headers.get(name) ?? '';
  const [, value] = Object.entries(headers).find(([given]) => given.toLowerCase() === name) ?? [];
  return [value ?? []].flat().join(' ');
}

function readSignature(headers: NotificationHeaders): SignatureHeaders {
  const pairs = SIGNATURE.map((name) => [name, headerOf(headers, name)] as const);
  const missing = pairs.filter(([, value]) => value === '').map(([name]) => name);
  if (missing.length === 0) return Object.fromEntries(pairs) as SignatureHeaders;
  throw new NotificationError(
    'missing-headers',
    `${missing.join(', ')}: the webhook has no secret yet, or a proxy removed the headers`,
  );
}

/** Returns the result of `work`; undefined when it throws, as for text that is no JSON or a value too deep for the stack. */
const whenPossible = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};
const parseJson = (text: string): unknown => whenPossible(() => JSON.parse(text) as unknown);

const isNotification = (value: unknown): value is Notification =>
  isObject(value) &&
  typeof value['id'] === 'string' &&
  typeof value['eventType'] === 'string' &&
  isObject(value['data']);

/** Returns the text as the service rendered it, if only spaces and the order of members have changed since. */
function renderAgain(text: string): string | undefined {
  const value = parseJson(text);
  if (!isNotification(value) || !Object.hasOwn(DATA, value.eventType)) return undefined;
  const members = [...ENVELOPE, ...DATA[value.eventType].split(' ')];
  return whenPossible(() => JSON.stringify(value, members));
}

/** Whether one of the given signatures is valid for the text, whatever the age of its timestamp. Compares each in constant time. */
function isSigned(key: Webhook, given: SignatureHeaders, text: string): boolean {
  const time = new Date(Number.parseInt(given['webhook-timestamp'], 10) * 1_000);
  if (Number.isNaN(time.getTime())) return false;
  // Not imported, because then no bundle for browsers could hold this package.
  const { timingSafeEqual } = process.getBuiltinModule('node:crypto');
  const wanted = Buffer.from(key.sign(given['webhook-id'], time, text));
  return given['webhook-signature'].split(' ').some((signature) => {
    const came = Buffer.from(signature);
    return came.length === wanted.length && timingSafeEqual(came, wanted);
  });
}

/** Whether the library accepts the signature. Nothing else lets a notification pass. */
function isVerified(key: Webhook, given: SignatureHeaders, text: string): boolean {
  try {
    key.verify(text, given, { jsonParse: false });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

function faultOf(keys: readonly Webhook[], given: SignatureHeaders, text: string): NotificationError {
  const signs = (signed: string) => keys.some((key) => isSigned(key, given, signed));
  if (signs(text)) {
    const aheadS = Math.round(Date.now() / 1_000) - Number.parseInt(given['webhook-timestamp'], 10);
    return new NotificationError(
      'clock',
      `signed ${aheadS} s ago by this machine's clock: set the clock, or the request is a replay`,
    );
  }
  if (text.startsWith(BASE64_START))
    return new NotificationError(
      'base64-body',
      "the body is base64, as isBase64Encoded of Lambda says: pass Buffer.from(event.body, 'base64')",
    );
  const rendered = renderAgain(text);
  return rendered !== undefined && signs(rendered)
    ? new NotificationError('rewritten-body', 'verify the received bytes, not JSON that was serialized again')
    : new NotificationError('wrong-secret', 'none of the secrets signed this; it may be forged');
}

/**
 * Verifies that the service signed a request with one of the secrets, within 5 minutes of this machine's clock (Standard Webhooks 1.0.0).
 * Returns the body as text, in any format. `body`: the received bytes, or their text. Throws `NotificationError` with the reason, and
 * `TypeError` for an invalid secret.
 */
export function verifySignature(
  headers: NotificationHeaders,
  body: unknown,
  secrets: string | readonly string[],
): string {
  const keys = createKeys(secrets);
  const given = readSignature(headers);
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new NotificationError('rewritten-body', 'the body was parsed: pass the received bytes');
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  if (!keys.some((key) => isVerified(key, given, text))) throw faultOf(keys, given, text);
  return text;
}

/** Verifies a request of the format `standard`, as `verifySignature` does, and returns its notification. */
export function verifyNotification(
  headers: NotificationHeaders,
  body: unknown,
  secrets: string | readonly string[],
): Notification {
  const text = verifySignature(headers, body, secrets);
  const notification = parseJson(text);
  if (isNotification(notification)) return notification;
  throw new NotificationError('not-a-notification', 'the body is signed, and has no id, eventType and data');
}

/** Parses the secrets. Throws `TypeError` for an invalid one, and for an empty list. */
export function createKeys(secrets: string | readonly string[]): readonly Webhook[] {
  if (secrets.length === 0) throw new TypeError('verifying needs at least one secret');
  try {
    return [secrets].flat().map((secret) => new Webhook(secret));
  } catch (cause) {
    throw new TypeError('a secret is whsec_ and base64, as rotateSecret returns it', { cause });
  }
}
