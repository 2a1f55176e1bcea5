import type { AlertSettings } from '@webhooks/contracts';
import type { AlertKind } from '../../src/episodes/episode.js';
import { makeAlert, renderAlert } from '../../src/episodes/render-alert.js';

const AT = Date.parse('2026-11-22T06:12:00Z');
const REF = '0190f3c2-7b1a-7c3e-9f54-2d6c8a1b0e4f';
const episodeOf = (failure: object) => ({
  ...{ attempts: 12, endpointUrl: 'https://old.acme.com.br/pix' },
  ...{ first: { at: AT }, last: { at: AT + 60_000, ...failure } },
});

function textOf(kind: AlertKind, failure: object, language: AlertSettings['language']): string {
  const episode = kind === 'failing' || kind === 'recovered' ? { episode: episodeOf(failure) } : {};
  const about = kind === 'dead' ? {} : { endpointUrl: 'https://hook.acme.com.br/pix' };
  const alert = makeAlert('acme', { kind, at: AT, ...episode }, { ref: REF, ...about, waiting: 3 });
  const { text } = JSON.parse(renderAlert(alert, { format: 'text', language })) as { text: string };
  return text.replaceAll(/[\u00a0\u202f]/g, ' ');
}

it.each<[AlertKind, object, string, string]>([
  [
    'failing',
    { error: 'TLS', code: 'CERT_HAS_EXPIRED' },
    'Endpoint com falha: https://hook.acme.com.br/pix, falhando desde: 22 de nov. de 2026, 03:12:00 BRT, entregas aguardando: 3, tentativas sem sucesso: 12, erro: CERT_HAS_EXPIRED. O certificado venceu: renove-o e faça o servidor carregar o novo.',
    'Endpoint failing: https://hook.acme.com.br/pix, failing since: Nov 22, 2026, 03:12:00 GMT-3, waiting deliveries: 3, failed attempts: 12, error: CERT_HAS_EXPIRED. The certificate has expired: renew it, and let the server load the new one.',
  ],
  [
    'recovered',
    { status: 503 },
    'Endpoint recuperado: https://hook.acme.com.br/pix, falhando desde: 22 de nov. de 2026, 03:12:00 BRT, entregas aguardando: 3, tentativas sem sucesso: 12, erro: 503. O endpoint, ou um proxy na frente dele, falhou: veja o log no horário da tentativa.',
    'Endpoint recovered: https://hook.acme.com.br/pix, failing since: Nov 22, 2026, 03:12:00 GMT-3, waiting deliveries: 3, failed attempts: 12, error: 503. The endpoint, or a proxy before it, failed: look at its log at the time of the attempt.',
  ],
  [
    'dead',
    {},
    `Entregas abandonadas: ${REF}, entregas aguardando: 3.`,
    `Dead deliveries: ${REF}, waiting deliveries: 3.`,
  ],
])(
  'an alert of kind %s is a sentence in both languages, with the cause in words',
  (kind, failure, pt, en) => {
    expect(textOf(kind, failure, 'pt-BR')).toBe(pt);
    expect(textOf(kind, failure, 'en')).toBe(en);
  },
);

it('an alert about many endpoints tells how many', () => {
  const alert = makeAlert('acme', { kind: 'failing', at: AT }, { count: 47 });
  const body = renderAlert(alert, { format: 'text', language: 'en' });
  expect(JSON.parse(body)).toEqual({ text: 'Endpoint failing: 47 endpoints.' });
});

it('the id of an alert is derived from tenant, webhook, type and fact', () => {
  const idOf = (kind: AlertKind, at: number, tenant = 'acme', ref = REF) =>
    makeAlert(tenant, { kind, at }, { ref }).event.id;
  expect(idOf('failing', 1)).toBe(idOf('failing', 1));
  const others = [
    idOf('recovered', 1),
    idOf('failing', 2),
    idOf('failing', 1, 'globex'),
    idOf('failing', 1, 'acme', 'x'),
  ];
  expect(new Set([idOf('failing', 1), ...others]).size).toBe(5);
});
