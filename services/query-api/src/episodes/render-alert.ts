import { causeOf, deliveryIdOf } from '@webhooks/contracts';
import type { AlertSettings } from '@webhooks/contracts';
import { omitUndefined } from '../omit-undefined.js';
import { ALERT_TYPES } from './episode.js';
import type { AlertFact, Episode } from './episode.js';

/** What an alert is about. What does not apply is absent. Times are RFC 3339 in UTC. */
interface AlertData {
  /** Absent in an alert about many endpoints. */
  readonly ref?: string;
  readonly endpointUrl?: string;
  readonly since?: string;
  readonly attempts?: number;
  readonly lastError?: string;
  /** Deliveries of the webhook that wait. */
  readonly waiting?: number;
  /** Dead deliveries of the webhook; without `ref`: the number of endpoints. */
  readonly count?: number;
  readonly notAfter?: string;
}

export const utc = (at: number): string => new Date(at).toISOString();

/** Shows an episode. Its last failure is named by its code, else its status, else its class. */
const viewEpisode = ({ first, attempts, last: { code, status, error } }: Episode) => ({
  since: utc(first.at),
  attempts,
  lastError: code ?? String(status ?? error ?? 'OTHER'),
});

/** Makes the alert of a fact, as the format `event` shows it. Its id is derived from the fact, as a delivery's is. */
export function makeAlert(tenantId: string, { kind, at, episode }: AlertFact, about: AlertData) {
  const type = ALERT_TYPES[kind];
  const id = `alert_${deliveryIdOf(tenantId, about.ref ?? '', `${type} ${at}`)}`;
  const data: AlertData = { ...about, ...(episode && viewEpisode(episode)) };
  return { kind, failure: episode?.last, event: { id, type, occurredAt: utc(at), data } };
}
export type Alert = ReturnType<typeof makeAlert>;

/** The names of the parts of a sentence in Portuguese and English. */
const TEXTS: Readonly<Record<string, readonly [pt: string, en: string]>> = {
  failing: ['Endpoint com falha', 'Endpoint failing'],
  recovered: ['Endpoint recuperado', 'Endpoint recovered'],
  dead: ['Entregas abandonadas', 'Dead deliveries'],
  expiring: ['Certificado de cliente perto do fim', 'Client certificate ends soon'],
  since: ['falhando desde', 'failing since'],
  notAfter: ['válido até', 'valid until'],
  attempts: ['tentativas sem sucesso', 'failed attempts'],
  waiting: ['entregas aguardando', 'waiting deliveries'],
  count: ['quantidade', 'number'],
  lastError: ['erro', 'error'],
};

/** All times of a text are in the zone of the payments' country, and say so. */
const DATED = { dateStyle: 'medium', timeStyle: 'long' } as const;
const ZONED = { ...DATED, hourCycle: 'h23', timeZone: 'America/Sao_Paulo' } as const;

/** Returns an alert as one sentence, and the cause of the last failure as another. */
function textOf({ kind, failure, event: { data } }: Alert, language: AlertSettings['language']): string {
  const isEnglish = language === 'en';
  const time = (text: string | undefined) =>
    text && new Intl.DateTimeFormat(language, ZONED).format(new Date(text));
  const { ref, endpointUrl, since, notAfter, count, ...rest } = data;
  const about = endpointUrl ?? ref ?? `${String(count)} endpoints`;
  const times = { since: time(since), notAfter: time(notAfter) };
  const parts = { [kind]: about, ...times, count: ref && count, ...rest };
  const sentence = Object.entries(omitUndefined(parts))
    .map(([name, value]) => `${TEXTS[name]?.[Number(isEnglish)] ?? name}: ${value}`)
    .join(', ');
  return [`${sentence}.`, failure ? (causeOf(failure, isEnglish ? 'en' : 'pt') ?? '') : ''].join(' ').trim();
}

/** Returns the body that an alert endpoint receives, as JSON. */
export const renderAlert = (alert: Alert, { format, language }: AlertSettings): string =>
  JSON.stringify(format === 'event' ? alert.event : { text: textOf(alert, language) });
