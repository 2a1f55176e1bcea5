import { DATA_FIELDS, EVENT_TYPES, renderNotification } from '@webhooks/contracts';
import type { EventType, PaymentEvent } from '@webhooks/contracts';
import { Webhook } from 'standardwebhooks';
import { NotificationError, verifyNotification, verifySignature } from '../../src/index.js';
import type { Notification } from '../../src/index.js';

const secretOf = (text: string): string => `whsec_${Buffer.from(text.padEnd(24, '.')).toString('base64')}`;
const SECRET = secretOf('the right one');
const OTHER = secretOf('another one');
const NOW_S = Math.floor(Date.now() / 1_000);

/** A notification of each type as the service renders it, with every member that the type has. */
function rendered(eventType: EventType): string {
  const data = Object.fromEntries(DATA_FIELDS[eventType].map((name) => [name, `a ${name}`]));
  const event = { id: 'evt_1', eventType, tenantId: 'acme', occurredAt: '2026-11-21T14:03:27.512Z', data };
  return renderNotification(event as unknown as PaymentEvent).toString();
}
const BODY = rendered('PIX_DYNAMIC_PAID');
const UNTYPED = '{"id":"evt_1","eventType":1,"data":{}}';

const signed = (body: string, secret = SECRET, timeS = NOW_S): Record<string, string> => ({
  'Webhook-Id': 'evt_1',
  'webhook-timestamp': String(timeS),
  'webhook-signature': new Webhook(secret).sign('evt_1', new Date(timeS * 1_000), body),
});

function reasonOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof NotificationError) return error.reason;
    throw error;
  }
  return 'none';
}

const sortedJson = (text: string): string =>
  JSON.stringify(JSON.parse(text), (_, value: unknown) =>
    typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).sort()) : value,
  );

describe('verifying', () => {
  it('gives the notification of bytes or text, with headers of Node or of fetch, in any letter case', () => {
    const headers = signed(BODY);
    for (const given of [headers, new Headers(headers)])
      for (const body of [BODY, Buffer.from(BODY), new TextEncoder().encode(BODY)])
        expect(verifyNotification(given, body, SECRET)).toEqual(JSON.parse(BODY));
  });

  it('takes headers whose values are lists, as multiValueHeaders and headersDistinct are', () => {
    const lists = Object.fromEntries(Object.entries(signed(BODY)).map(([name, value]) => [name, [value]]));
    expect(verifyNotification(lists, BODY, SECRET).id).toBe('evt_1');
    const both = ['v1,AAAA', signed(BODY)['webhook-signature'] ?? ''];
    expect(verifyNotification({ ...lists, 'webhook-signature': both }, BODY, SECRET).id).toBe('evt_1');
    expect(reasonOf(() => verifyNotification({ ...lists, 'webhook-signature': [] }, BODY, SECRET))).toBe(
      'missing-headers',
    );
  });

  it('knows a body that is still in the base64 of Lambda, and tells how to decode it', () => {
    const body = Buffer.from(BODY).toString('base64');
    expect(() => verifyNotification(signed(BODY), body, SECRET)).toThrow(
      /^base64-body: .* pass Buffer\.from\(event\.body, 'base64'\)$/,
    );
    expect(verifyNotification(signed(BODY), Buffer.from(body, 'base64'), SECRET).id).toBe('evt_1');
  });

  it('takes a signature of any of the secrets that are valid during a rotation', () => {
    const both = `v1,AAAA ${signed(BODY, OTHER)['webhook-signature'] ?? ''} v2,more`;
    const headers = { ...signed(BODY), 'webhook-signature': both };
    expect(verifyNotification(headers, BODY, [SECRET, OTHER]).id).toBe('evt_1');
  });

  it('gives the text of another format when its signature is right', () => {
    const bacen = '{"id":"evt_1","pix":[]}';
    expect(verifySignature(signed(bacen), Buffer.from(bacen), SECRET)).toBe(bacen);
    expect(reasonOf(() => verifySignature(signed(bacen), bacen, OTHER))).toBe('wrong-secret');
    expect(reasonOf(() => verifyNotification(signed(bacen), bacen, SECRET))).toBe('not-a-notification');
  });

  it('types the data by the type of the event', () => {
    const keyOf = (notification: Notification): string => {
      switch (notification.eventType) {
        case 'PIX_DYNAMIC_PAID':
          return notification.data.txId;
        case 'PIX_REVERSAL':
          return notification.data.rtrId;
        case 'PIX_STATIC':
        case 'PIX_OUT':
          return notification.data.endToEndId;
      }
    };
    const body = rendered('PIX_REVERSAL');
    expect(keyOf(verifyNotification(signed(body), body, SECRET))).toBe('a rtrId');
  });

  it('accepts a type that is newer than this package', () => {
    const body = BODY.replace('PIX_DYNAMIC_PAID', 'PIX_NEXT');
    expect(verifyNotification(signed(body), body, SECRET)).toMatchObject({ eventType: 'PIX_NEXT' });
    expect(reasonOf(() => verifyNotification(signed(body), `${body} `, SECRET))).toBe('wrong-secret');
  });

  it.each(EVENT_TYPES)('knows a %s that was parsed and written again', (eventType) => {
    const text = rendered(eventType);
    const value = JSON.parse(text) as object;
    for (const again of [JSON.stringify(value, null, 2), sortedJson(text), `${text}\n`])
      expect(reasonOf(() => verifyNotification(signed(text), again, SECRET))).toBe('rewritten-body');
    expect(reasonOf(() => verifyNotification(signed(text), value, SECRET))).toBe('rewritten-body');
  });

  it.each([
    ['another secret', signed(BODY, OTHER), BODY, 'wrong-secret'],
    ['another amount', signed(BODY), BODY.replace('a amount', 'a lot'), 'wrong-secret'],
    ['another id', { ...signed(BODY), 'Webhook-Id': 'evt_2' }, BODY, 'wrong-secret'],
    ['a body that is no JSON', signed(BODY), '<html>', 'wrong-secret'],
    [
      'a type that every object has',
      signed(BODY),
      BODY.replace('PIX_DYNAMIC_PAID', 'toString'),
      'wrong-secret',
    ],
    [
      'a body that is nested too deeply to be written again',
      signed(BODY),
      BODY.replace('"a amount"', `${'['.repeat(100_000)}${']'.repeat(100_000)}`),
      'wrong-secret',
    ],
    ['a time that is none', { ...signed(BODY), 'webhook-timestamp': 'now' }, BODY, 'wrong-secret'],
    ['another secret, long ago', signed(BODY, OTHER, NOW_S - 3_600), BODY, 'wrong-secret'],
    ['a clock that is ahead', signed(BODY, SECRET, NOW_S - 310), BODY, 'clock'],
    ['a clock that is behind', signed(BODY, SECRET, NOW_S + 310), BODY, 'clock'],
    ['no signature', { ...signed(BODY), 'webhook-signature': '' }, BODY, 'missing-headers'],
    ['no headers at all', {}, BODY, 'missing-headers'],
    ['something else that is signed', signed('[]'), '[]', 'not-a-notification'],
    ['a signed type that is no word', signed(UNTYPED), UNTYPED, 'not-a-notification'],
  ])('refuses %s', (_, headers, body, reason) => {
    expect(reasonOf(() => verifyNotification(headers, body, [SECRET]))).toBe(reason);
  });

  it('finds the reason with each of the secrets', () => {
    const old = signed(BODY, SECRET, NOW_S - 310);
    expect(reasonOf(() => verifyNotification(old, BODY, [OTHER, SECRET]))).toBe('clock');
    expect(reasonOf(() => verifyNotification(signed(BODY), `${BODY}\n`, [OTHER, SECRET]))).toBe(
      'rewritten-body',
    );
  });

  it('names the headers that are missing and how far the clocks are apart', () => {
    const { 'webhook-signature': _, ...unsigned } = signed(BODY);
    expect(() => verifyNotification(unsigned, BODY, SECRET)).toThrow(/webhook-signature: the webhook has no/);
    expect(() => verifyNotification(signed(BODY, SECRET, NOW_S - 7_200), BODY, SECRET)).toThrow(
      /^clock: signed 720[0-9] s ago/,
    );
  });

  it.each([[[]], ['whsec_%%%'], ['']])('refuses %j as secrets, which is the caller’s mistake', (secrets) => {
    expect(() => verifyNotification(signed(BODY), BODY, secrets)).toThrow(TypeError);
  });
});
