import { explainPayment } from '../../src/index.js';
import type { PaymentEvidence, Verdict } from '../../src/index.js';
import { ROWS } from '../support/payment-cases.js';
import {
  at,
  delivery,
  DISABLED,
  EVENT,
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
});
