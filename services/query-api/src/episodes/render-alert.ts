import { deliveryIdOf } from '@webhooks/contracts';
import type { AlertSettings } from '@webhooks/contracts';
import { omitUndefined } from '../omit-undefined.js';
import type { AlertFact } from './alert-facts.js';
import { ALERT_TEXTS } from './alert-texts.js';
import { ALERT_TYPES } from './episode.js';
import type { Episode } from './episode.js';

/** What an alert is about. What does not apply is absent. Times are RFC 3339 in UTC. */
interface AlertData {
  readonly ref?: string;
  /** The first endpoints of an alert about many, in place of `ref`. */
  readonly refs?: readonly string[];
  readonly endpointUrl?: string;
  readonly since?: string;
  readonly attempts?: number;
  readonly lastError?: string;
  /** Deliveries of the webhook that wait. */
  readonly waiting?: number;
  /** Dead deliveries of the webhook; with `refs`: the number of endpoints. */
  readonly count?: number;
  readonly notAfter?: string;
}

export const utc = (at: number): string => new Date(at).toISOString();

/** Returns a URL without its query, which may have a secret. */
export const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '');

/** Returns the name of the last failure of an episode: its code, else its status, else its class. */
const errorOf = ({ last: { code, status, error } }: Episode): string =>
  code ?? String(status ?? error ?? 'OTHER');

/** Makes the alert of a fact, as the format `event` shows it. Its id is derived from the fact, as a delivery's is. */
export function makeAlert(tenantId: string, { kind, at, key, episode }: AlertFact, about: AlertData) {
  const type = ALERT_TYPES[kind];
  const id = `alert_${deliveryIdOf(tenantId, about.ref ?? '', `${type} ${key}`)}`;
  const ofEpisode = episode && {
    ...omitUndefined({ endpointUrl: episode.endpointUrl }),
    since: utc(episode.first.at),
    attempts: episode.attempts,
    lastError: errorOf(episode),
  };
  const data: AlertData = { ...about, ...ofEpisode };
  return { kind, event: { id, type, occurredAt: utc(at), data } };
}
export type Alert = ReturnType<typeof makeAlert>;

/** All times of a text are in the zone of the payments' country, and say so. */
const ZONED = { dateStyle: 'medium', timeStyle: 'long', timeZone: 'America/Sao_Paulo' } as const;

/** Returns an alert as one sentence. */
function sentenceOf({ kind, event: { data } }: Alert, language: AlertSettings['language']): string {
  const textOf = (name: string): string => ALERT_TEXTS[name]?.[language === 'en' ? 1 : 0] ?? name;
  const fill = (name: string, value: string | number | undefined): string =>
    value === undefined ? '' : textOf(name).replace('%', () => String(value));
  const time = (text: string | undefined) =>
    text && new Intl.DateTimeFormat(language, ZONED).format(new Date(text));
  const { ref, refs, endpointUrl = ref, count, lastError: error = '' } = data;
  const cause = /^\d+$/.test(error) ? fill('status', error) : textOf(error);
  return [
    fill(kind, refs ? fill('endpoints', count) : endpointUrl),
    fill('since', time(data.since)),
    fill('notAfter', time(data.notAfter)),
    fill('cause', cause || undefined),
    fill('attempts', data.attempts),
    refs ? '' : fill('count', count),
    fill('waiting', data.waiting),
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/** Returns the body that an alert endpoint receives, as JSON. */
export const renderAlert = (alert: Alert, { format, language }: AlertSettings): string =>
  JSON.stringify(format === 'event' ? alert.event : { text: `${sentenceOf(alert, language)}.` });
