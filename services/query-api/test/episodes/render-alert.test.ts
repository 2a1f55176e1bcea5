import type { AlertSettings } from '@webhooks/contracts';
import type { AlertKind } from '../../src/episodes/episode.js';
import { makeAlert, renderAlert } from '../../src/episodes/render-alert.js';

const AT = Date.parse('2026-11-22T06:12:00Z');
const REF = '0190f3c2-7b1a-7c3e-9f54-2d6c8a1b0e4f';
const episodeOf = (failure: object) => ({
  ...{ attempts: 12, endpointUrl: 'https://hook.acme.com.br/pix' },
  ...{ first: { at: AT }, last: { at: AT + 60_000, ...failure } },
});

function textOf(kind: AlertKind, failure: object, language: AlertSettings['language']): string {
  const episode = kind === 'failing' || kind === 'recovered' ? { episode: episodeOf(failure) } : {};
  const alert = makeAlert('acme', { kind, at: AT, key: AT, ...episode }, { ref: REF, waiting: 3 });
  const { text } = JSON.parse(renderAlert(alert, { format: 'text', language })) as { text: string };
  return text.replaceAll(/[\u00a0\u202f]/g, ' ');
}

it.each<[AlertKind, object, string, string]>([
  [
    'failing',
    { error: 'TLS', code: 'CERT_HAS_EXPIRED' },
    'Endpoint com falha: https://hook.acme.com.br/pix, falhando desde 22 de nov. de 2026, 03:12:00 BRT, causa: certificado vencido, tentativas sem sucesso: 12, entregas aguardando: 3.',
    'Endpoint failing: https://hook.acme.com.br/pix, failing since Nov 22, 2026, 3:12:00 AM GMT-3, cause: certificate expired, failed attempts: 12, waiting deliveries: 3.',
  ],
  [
    'recovered',
    { status: 503 },
    'Endpoint recuperado: https://hook.acme.com.br/pix, falhando desde 22 de nov. de 2026, 03:12:00 BRT, causa: resposta 503, tentativas sem sucesso: 12, entregas aguardando: 3.',
    'Endpoint recovered: https://hook.acme.com.br/pix, failing since Nov 22, 2026, 3:12:00 AM GMT-3, cause: response 503, failed attempts: 12, waiting deliveries: 3.',
  ],
  [
    'dead',
    {},
    `Entregas abandonadas: ${REF}, entregas aguardando: 3.`,
    `Deliveries given up: ${REF}, waiting deliveries: 3.`,
  ],
])(
  'an alert of kind %s is a sentence in both languages, with the cause in words',
  (kind, failure, pt, en) => {
    expect(textOf(kind, failure, 'pt-BR')).toBe(pt);
    expect(textOf(kind, failure, 'en')).toBe(en);
  },
);

it('an alert about many endpoints tells how many', () => {
  const alert = makeAlert('acme', { kind: 'failing', at: AT, key: AT }, { refs: [REF], count: 47 });
  const body = renderAlert(alert, { format: 'text', language: 'en' });
  expect(JSON.parse(body)).toEqual({ text: 'Endpoint failing: 47 endpoints.' });
});

it('the id of an alert is derived from tenant, webhook, type and fact', () => {
  const idOf = (kind: AlertKind, key: number, tenant = 'acme', ref = REF) =>
    makeAlert(tenant, { kind, at: AT, key }, { ref }).event.id;
  expect(idOf('failing', 1)).toBe(idOf('failing', 1));
  const others = [
    idOf('recovered', 1),
    idOf('failing', 2),
    idOf('failing', 1, 'globex'),
    idOf('failing', 1, 'acme', 'x'),
  ];
  expect(new Set([idOf('failing', 1), ...others]).size).toBe(5);
});
