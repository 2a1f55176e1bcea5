import { explainPayment } from '../../src/index.js';
import type { PaymentEvidence, Verdict } from '../../src/index.js';
import { ROWS } from '../support/payment-cases.js';
import {
  at,
  delivery,
  DISABLED,
  EVENT,
  failed,
  health,
  NOW,
  ok,
  PAYMENT,
  WEBHOOK,
} from '../support/payment-evidence.js';

/** Explains the payment with one event and one webhook, and with this in their place. */
const explain = (evidence: Partial<PaymentEvidence>): readonly Verdict[] =>
  explainPayment({
    payment: PAYMENT,
    events: [EVENT],
    webhooks: [WEBHOOK],
    deliveries: [],
    now: NOW,
    ...evidence,
  });

describe('a payment that', () => {
  it.each(ROWS)('$case', ({ evidence, kinds, en, pt, command }) => {
    const verdicts = explain(evidence);
    expect(verdicts.map(({ kind }) => kind)).toEqual(kinds);
    const last = verdicts.at(-1);
    expect(last?.text).toEqual({
      en: expect.stringMatching(en) as string,
      pt: expect.stringMatching(pt) as string,
    });
    expect(last?.command).toBe(command);
    for (const { text } of verdicts)
      expect(Object.values(text).join('')).not.toMatch(/[{}]|secret\b=|\?key| {2}/);
  });

  it('is told in the zone that is asked for', () => {
    const deliveries = [delivery({ status: 'delivered', attempts: [ok('14:03:01')] })];
    const [verdict] = explain({ deliveries, timeZone: 'Asia/Tokyo' });
    expect(verdict?.text.en).toContain('23:03:01 GMT+9, by attempt 1');
  });

  it('was cancelled for a reason that is a name of every object is told with it', () => {
    const [verdict] = explain({ deliveries: [delivery({ status: 'cancelled', reason: 'constructor' })] });
    expect(verdict?.text.en).toMatch(/: constructor\.$/);
  });

  it('is deferred because a healthy endpoint is slow waits', () => {
    const webhooks = [{ ...WEBHOOK, health: health('healthy') }];
    const deliveries = [delivery({ deferredUntil: at('15:01:00') })];
    expect(explain({ webhooks, deliveries })).toMatchObject([{ kind: 'waiting' }]);
  });

  it('has no delivery nine days after it came waits no more, and is not to be sent', () => {
    const [verdict] = explain({ now: NOW + 9 * 86_400_000 });
    expect(verdict).toMatchObject({ kind: 'log-expired' });
    expect(verdict?.command).toBeUndefined();
  });

  it('reached one webhook and not another has a verdict on each, with their ids', () => {
    const other = { ...DISABLED, ref: 'r2' };
    const verdicts = explain({
      webhooks: [other, WEBHOOK],
      deliveries: [delivery({ status: 'delivered', attempts: [ok('14:03:01')] })],
    });
    expect(verdicts).toMatchObject([
      { kind: 'delivered', ref: 'r1', eventId: 'evt_1', deliveryId: 'd1' },
      { kind: 'disabled-then', ref: 'r2', eventId: 'evt_1' },
    ]);
  });

  it('has more deliveries than are listed: none is said to wait, because it may be one of those', () => {
    const deliveries = [delivery({ status: 'delivered', attempts: [ok('14:03:01')] })];
    const webhooks = [WEBHOOK, { ...WEBHOOK, ref: 'r2' }];
    expect(explain({ webhooks, deliveries, truncated: true })).toMatchObject([{ kind: 'delivered' }]);
  });

  it('was refused and delivered, and was sent again, waits: the old refusal is no cause', () => {
    const deliveries = [delivery({ cycle: 'r1', attempts: [failed('14:03:01'), ok('14:04:00')] })];
    expect(explain({ deliveries })).toMatchObject([{ kind: 'delivered' }, { kind: 'waiting' }]);
  });

  it('was delivered late by the platform: a later refusal is no cause', () => {
    const attempts = [ok('14:08:00'), failed('14:20:00', { status: 404, cycle: 'r1' })];
    const [verdict] = explain({ deliveries: [delivery({ status: 'delivered', attempts })] });
    expect(verdict?.kind).toBe('delivered-late');
    expect(verdict?.text.en).toMatch(/by attempt 1\. The event came at .* GMT-3\.$/);
  });

  it('waits for a webhook that has another type now is cancelled when due, and enabling does not help', () => {
    const webhooks = [{ ...WEBHOOK, eventType: 'PIX_OUT' as const }];
    const [verdict] = explain({ webhooks, deliveries: [delivery({ nextAt: at('15:10:00') })] });
    expect(verdict).toMatchObject({ kind: 'ending', command: undefined });
    expect(verdict?.text.en).toContain('the webhook was changed to another event type. Due:');
  });

  it('has more deliveries than are listed, all of a reversal: it is not said to be unknown', () => {
    const events = [{ ...EVENT, eventType: 'PIX_REVERSAL' as const }];
    expect(explain({ events, truncated: true })).not.toContainEqual(
      expect.objectContaining({ kind: 'not-reported' }),
    );
  });

  it('is known by an id alone that is a word of the sentences is named by its id', () => {
    const [verdict] = explain({ events: [{ id: 'event' }] });
    expect(verdict?.kind).toBe('log-expired');
    expect(verdict?.text.en).toMatch(/^id event: older than the log/);
    expect(verdict?.text.pt).toMatch(/^id event: anterior ao log/);
  });
});
