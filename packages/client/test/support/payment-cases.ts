import type { DeliveryDetail, ExplainedWebhook, PaymentEvidence, Verdict } from '../../src/index.js';
import { at, change, delivery, DISABLED, EVENT, failed, health, ok, WEBHOOK } from './payment-evidence.js';

const SEND = 'webhooks send evt_1 --ref r1';
const ENABLE_AND_SEND = `webhooks enable r1 && ${SEND}`;

export interface Row {
  readonly case: string;
  readonly evidence: Partial<PaymentEvidence>;
  readonly kinds: readonly Verdict['kind'][];
  /** Of the last verdict. */
  readonly en: RegExp;
  readonly pt: RegExp;
  readonly command?: string;
}
const withWebhook = (webhook: ExplainedWebhook, ...deliveries: DeliveryDetail[]) => ({
  webhooks: [webhook],
  deliveries,
});
const UNSIGNED = { ...WEBHOOK, hasSecret: false };
const withDelivery = (more: Partial<DeliveryDetail>) => ({ deliveries: [delivery(more)] });

/** A row for every way in which a notification is delivered, late, repeated, refused or missing. */
export const ROWS: readonly Row[] = [
  {
    case: 'was delivered by the first attempt',
    evidence: withDelivery({ status: 'delivered', attempts: [ok('14:03:01')] }),
    kinds: ['delivered'],
    en: /^PIX_STATIC of R\$87\.30: delivered to hook\.acme\.com\.br\/pix at Nov 21, 2026.* 11:03:01 GMT-3, by attempt 1\.$/,
    pt: /^PIX_STATIC de R\$.87,30: entregue a hook\.acme\.com\.br\/pix em 21 de nov\. de 2026, 11:03:01 BRT, na tentativa 1\.$/,
  },
  {
    case: 'was delivered late',
    evidence: withDelivery({ status: 'delivered', attempts: [failed('14:03:01'), ok('14:13:00')] }),
    kinds: ['delivered-late'],
    en: /late .* 11:13:00 .*, by attempt 2\. The event came at .* 11:03:00 .* proxy before it, failed/,
    pt: /com atraso .* 11:13:00 BRT.* um proxy na frente dele, falhou/,
  },
  {
    case: 'was repeated by the same redelivery',
    evidence: withDelivery({ status: 'delivered', attempts: [ok('14:03:01'), ok('14:03:04')] }),
    kinds: ['repeated'],
    en: /delivered 2 times .* with the same id, .* attempt was repeated\. A receiver ignores an id that it knows\.$/,
    pt: /entregue 2 vezes .* repetida\. O receptor ignora/,
  },
  {
    case: 'was refused by an address that the webhook has no more',
    evidence: withWebhook(
      { ...WEBHOOK, changes: [change('14:30:00', 'endpointUrl', 'https://old.acme.com.br/pix')] },
      delivery({ attempts: [failed('14:20:00', { status: 404 })] }),
    ),
    kinds: ['refused'],
    en: /: old\.acme\.com\.br\/pix responded with status 404/,
    pt: /: old\.acme\.com\.br\/pix respondeu com o status 404/,
    command: SEND,
  },
  {
    case: 'was sent again',
    evidence: withDelivery({ status: 'delivered', attempts: [ok('14:03:01'), ok('14:20:00', 'r1')] }),
    kinds: ['repeated'],
    en: /it was sent again\. A receiver ignores/,
    pt: /foi enviado de novo\. O receptor ignora/,
  },
  {
    case: 'was delivered, sent again, and is refused now',
    evidence: withDelivery({
      cycle: 'r1',
      attempts: [ok('14:03:01'), failed('14:20:00', { status: 404, cycle: 'r1' })],
    }),
    kinds: ['delivered', 'refused'],
    en: /responded with status 404 .*\. Nothing takes a POST at this path/,
    pt: /respondeu com o status 404 .*\. Nada aceita POST neste caminho/,
    command: SEND,
  },
  {
    case: 'is refused, and has another attempt',
    evidence: withDelivery({ attempts: [failed('14:03:01', { status: 401 })], nextAt: at('15:10:00') }),
    kinds: ['refused'],
    en: /status 401 .* check its secret.* Next attempt: .* 12:10:00 GMT-3\.$/,
    pt: /status 401 .* confira o segredo.* Próxima tentativa: .* 12:10:00 BRT\.$/,
    command: SEND,
  },
  {
    case: 'is refused by a webhook without a signing secret',
    evidence: { ...withDelivery({ attempts: [failed('14:03:01', { status: 401 })] }), webhooks: [UNSIGNED] },
    kinds: ['refused'],
    en: /status 401 .* nothing is signed: make one/,
    pt: /status 401 .* nada é assinado: crie um/,
    command: SEND,
  },
  {
    case: 'has no response, and its next attempt was due before now',
    evidence: withDelivery({
      attempts: [failed('14:03:01', { error: 'TLS', code: 'CERT_HAS_EXPIRED' })],
      nextAt: at('14:59:00'),
    }),
    kinds: ['unreachable'],
    en: /no response .* \(CERT_HAS_EXPIRED\)\. The certificate has expired: .* Next attempt: due now, or under way\.$/,
    pt: /sem resposta .* O certificado venceu: .* Próxima tentativa: agora, ou em curso\.$/,
    command: SEND,
  },
  {
    case: 'failed in a way that is newer than this program',
    evidence: withDelivery({ attempts: [failed('14:03:01', { error: 'NEW', cause: 'Something new.' })] }),
    kinds: ['unreachable'],
    en: /\(NEW\)\. Something new\. Next/,
    pt: /\(NEW\)\. Something new\. Próxima/,
    command: SEND,
  },
  {
    case: 'waits for a paused endpoint, as the log says',
    evidence: withDelivery({
      attempts: [failed('14:03:01', { error: 'TIMEOUT' })],
      ...{ nextAt: at('15:05:00'), deferredUntil: at('15:05:00') },
    }),
    kinds: ['paused'],
    en: /is paused\. No response in time.* Next attempt at this endpoint: .* 12:05:00/,
    pt: /está em pausa\. Não houve resposta a tempo.* 12:05:00 BRT/,
  },
  {
    case: 'waits for a paused endpoint, and the log has no delivery of it',
    evidence: withWebhook({
      ...WEBHOOK,
      health: health('paused', {
        until: at('15:06:00'),
        failures: [{ class: '503', count: 9, lastAt: at('14:59:00') }],
      }),
    }),
    kinds: ['paused'],
    en: /is paused\. The endpoint, or a proxy .* Next attempt at this endpoint: .* 12:06:00/,
    pt: /está em pausa\. O endpoint, ou um proxy .* 12:06:00 BRT/,
  },
  {
    case: 'waits for the endpoint, which is paused beyond the next attempt',
    evidence: withWebhook(
      { ...WEBHOOK, health: health('paused', { until: at('15:06:00') }) },
      delivery({ attempts: [failed('14:03:01')], nextAt: at('14:03:06') }),
    ),
    kinds: ['paused'],
    en: /Next attempt at this endpoint: .* 12:06:00/,
    pt: /12:06:00 BRT/,
  },
  {
    case: 'waits because of a fault of the platform',
    evidence: withWebhook(
      { ...WEBHOOK, health: health('deferred') },
      delivery({ nextAt: at('15:01:00'), deferredUntil: at('15:01:00') }),
    ),
    kinds: ['deferred'],
    en: /a fault of the platform\. Next attempt: .* 12:01:00/,
    pt: /uma falha da plataforma\. .* 12:01:00 BRT/,
  },
  {
    case: 'waits for a webhook that was disabled since then',
    evidence: withWebhook(DISABLED, delivery({ attempts: [failed('14:03:01')], nextAt: at('15:10:00') })),
    kinds: ['ending'],
    en: /is cancelled when due: the webhook was disabled\. Due: .* 12:10:00/,
    pt: /será cancelada no vencimento/,
    command: 'webhooks enable r1',
  },
  {
    case: 'is dead',
    evidence: withDelivery({
      ...{ status: 'dead', reason: 'attempts-exhausted' },
      attempts: [failed('14:03:01', { error: 'CONNECT', code: 'ECONNREFUSED' })],
    }),
    kinds: ['dead'],
    en: /given up .* all attempts failed\. Nothing listens on this port/,
    pt: /abandonada .* todas as tentativas falharam\. Nada escuta nesta porta/,
    command: SEND,
  },
  ...(
    [
      ['expired', /its time was over/, /o prazo acabou/],
      ['configuration-unknown', /did not know the webhook/, /não conhecia o webhook/],
      ['not-handled', /could not process it/, /não conseguiu processá-la/],
      ['word-of-tomorrow', /: word-of-tomorrow\./, /: word-of-tomorrow\./],
    ] as const
  ).map(([reason, en, pt]) => ({
    ...{ case: `is dead: ${reason}`, kinds: ['dead'] as const, en, pt, command: SEND },
    evidence: withDelivery({ status: 'dead', reason }),
  })),
  {
    case: 'was cancelled, because the webhook was disabled, and is',
    evidence: withWebhook(DISABLED, delivery({ status: 'cancelled', reason: 'disabled' })),
    kinds: ['cancelled'],
    en: /cancelled .* 11:30:00 GMT-3: the webhook was disabled\.$/,
    pt: /cancelada .* 11:30:00 BRT: o webhook foi desativado\.$/,
    command: ENABLE_AND_SEND,
  },
  {
    case: 'was cancelled, because the webhook has another type now',
    evidence: withWebhook(
      { ...WEBHOOK, eventType: 'PIX_OUT' },
      delivery({ status: 'cancelled', reason: 'event-type-changed' }),
    ),
    kinds: ['cancelled'],
    en: /changed to another event type\.$/,
    pt: /passou a outro tipo de evento\.$/,
  },
  {
    case: 'was cancelled, because the webhook is of another application now',
    evidence: withDelivery({ status: 'cancelled', reason: 'application-changed' }),
    kinds: ['cancelled'],
    en: /changed to another application\.$/,
    pt: /passou a outra aplicação\.$/,
    command: SEND,
  },
  {
    case: 'came while the webhook was disabled, which is enabled again and healthy',
    evidence: withWebhook({
      ...{ ...WEBHOOK, health: health('healthy') },
      changes: [change('14:10:00', 'enabled', false), change('14:00:00', 'enabled', true)],
    }),
    kinds: ['disabled-then'],
    en: /The webhook was disabled when the event came, at .* 11:03:00 GMT-3\.$/,
    pt: /estava desativado quando o evento chegou, em .* 11:03:00 BRT\.$/,
    command: SEND,
  },
  {
    case: 'came while the webhook was disabled, as it is',
    evidence: withWebhook(DISABLED),
    kinds: ['disabled-then'],
    en: /was disabled when/,
    pt: /estava desativado/,
    command: ENABLE_AND_SEND,
  },
  {
    case: 'came before the webhook was registered',
    evidence: withWebhook({ ...WEBHOOK, createdAt: at('14:05:00') }),
    kinds: ['registered-later'],
    en: /registered at .* 11:05:00 .* the event came at .* 11:03:00/,
    pt: /cadastrado em .* 11:05:00 BRT, e o evento chegou em .* 11:03:00 BRT/,
    command: SEND,
  },
  {
    case: 'came while the webhook was of another type',
    evidence: withWebhook({ ...WEBHOOK, changes: [change('14:05:00', 'eventType', 'PIX_OUT')] }),
    kinds: ['other-type-then'],
    en: /The webhook received PIX_OUT when/,
    pt: /O webhook recebia PIX_OUT quando/,
    command: SEND,
  },
  {
    case: 'has no webhook',
    evidence: { webhooks: [] },
    kinds: ['no-webhook'],
    en: /No webhook receives this type\./,
    pt: /Nenhum webhook recebe este tipo\./,
    command: 'webhooks create --event-type PIX_STATIC --endpoint-url URL',
  },
  {
    case: 'has webhooks of other types only',
    evidence: withWebhook({ ...WEBHOOK, eventType: 'PIX_OUT' }),
    kinds: ['no-webhook'],
    en: /No webhook receives this type\./,
    pt: /Nenhum webhook/,
    command: 'webhooks create --event-type PIX_STATIC --endpoint-url URL',
  },
  {
    case: 'came a moment ago',
    evidence: { now: Date.parse(at('14:03:01')) },
    kinds: ['waiting'],
    en: /waits for its next attempt at .*: due now, or under way\.$/,
    pt: /aguarda a próxima tentativa em /,
  },
  {
    case: 'came long ago, and the log has nothing of it',
    evidence: {},
    kinds: ['waiting'],
    en: /waits for its next attempt/,
    pt: /aguarda a próxima tentativa/,
    command: SEND,
  },
  {
    case: 'is a test notification',
    evidence: {
      events: [{ ...EVENT, id: 'evt_test_1' }],
      deliveries: [delivery({ eventId: 'evt_test_1', status: 'delivered', attempts: [ok('14:03:01')] })],
      webhooks: [WEBHOOK, { ...DISABLED, ref: 'r2' }],
    },
    kinds: ['test', 'delivered'],
    en: /delivered to/,
    pt: /entregue a/,
  },
  {
    case: 'was never reported',
    evidence: { payment: undefined, events: [] },
    kinds: ['not-reported'],
    en: /reported no payment/,
    pt: /não informou nenhum pagamento/,
  },
  {
    case: 'was never reported, and its reversal was',
    evidence: { events: [{ ...EVENT, eventType: 'PIX_REVERSAL' }], webhooks: [] },
    kinds: ['not-reported', 'no-webhook'],
    en: /^PIX_REVERSAL of R\$87\.30: not sent/,
    pt: /^PIX_REVERSAL de/,
    command: 'webhooks create --event-type PIX_REVERSAL --endpoint-url URL',
  },
];
