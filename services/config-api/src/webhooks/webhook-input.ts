import {
  ALERT_FORMATS,
  ALERT_KIND,
  ALERT_LANGUAGES,
  EVENT_TYPES,
  PATTERNS,
  compileCheck,
} from '@webhooks/contracts';
import type { AlertSettings, Check } from '@webhooks/contracts';
import { invalidRequest, readJson } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';
import { checkEndpointUrl } from '@webhooks/outbound';
import type { UrlPolicy } from '@webhooks/outbound';
import type { Configuration, Route } from './configuration.js';

/**
 * A body of POST and PUT, with a checked URL and a lower-case ref. Fields that the caller left out are absent. `alert` is
 * set for an alert endpoint.
 */
export interface WebhookInput extends Route {
  readonly enabled?: boolean;
  readonly ref?: string;
  readonly alert?: AlertSettings;
}

type WebhookBody = Omit<WebhookInput, 'normalizedUrl'>;

/** No control, format or invisible characters, and spaces only inside, so that names that look equal are equal. */
const APPLICATION_ID = '^(?! )([^\\p{Cc}\\p{Cf}\\p{DI}\\p{Z}]| ){1,128}(?<! )$';

const ref = { type: 'string', pattern: PATTERNS.givenRef, description: 'must be a UUID' } as const;

const checkBody = compileCheck<WebhookBody>({
  type: 'object',
  additionalProperties: false,
  required: ['eventType', 'endpointUrl'],
  properties: {
    eventType: { type: 'string', enum: EVENT_TYPES },
    endpointUrl: { type: 'string' },
    applicationId: {
      ...{ type: ['string', 'null'], pattern: APPLICATION_ID },
      description:
        'must be a string of 1 to 128 characters, or null; control, format and invisible characters and surrounding blanks are refused',
    },
    enabled: { type: 'boolean' },
    ref,
  },
});

/**
 * The maximum UTF-16 units of 128 characters in decomposed form: four each (UAX #15). Without this bound, a caller
 * could send 8,000 combining marks, whose composition takes 40 ms.
 */
const MAX_APPLICATION_UNITS = 4 * 128;

/**
 * Checks a body with its application in composed form (Unicode NFC), so that all spellings are one name. An application
 * that is too long is refused without composition.
 */
const checkComposed: Check<WebhookBody> = (value) => {
  const { applicationId } = Object(value) as { applicationId?: unknown };
  if (typeof applicationId !== 'string' || applicationId.length > MAX_APPLICATION_UNITS)
    return checkBody(value);
  return checkBody({ ...Object(value), applicationId: applicationId.normalize('NFC') });
};

function toInput({ ref, ...body }: WebhookBody, policy: UrlPolicy): WebhookInput {
  const url = checkEndpointUrl(body.endpointUrl, policy);
  if (!url.ok)
    throw invalidRequest([{ property: 'endpointUrl', reason: url.reason }], 'invalid-endpoint-url');
  return { ...body, ...(ref !== undefined && { ref: ref.toLowerCase() }), normalizedUrl: url.normalized };
}

/** Reads the body of POST or PUT of webhooks. Throws 422 with the faults. */
export const readWebhookInput = (request: ApiRequest, policy: UrlPolicy): WebhookInput =>
  toInput(readJson(request, checkComposed), policy);

const checkAlertBody = compileCheck<Partial<AlertSettings> & Pick<WebhookBody, 'endpointUrl' | 'ref'>>({
  type: 'object',
  additionalProperties: false,
  required: ['endpointUrl'],
  properties: {
    endpointUrl: { type: 'string' },
    format: { type: 'string', enum: ALERT_FORMATS },
    language: { type: 'string', enum: ALERT_LANGUAGES },
    ref,
  },
});

/** Reads the body of POST of alert endpoints. Throws 422 with the faults. */
export function readAlertInput(request: ApiRequest, policy: UrlPolicy): WebhookInput {
  const { format = 'event', language = 'pt-BR', ...body } = readJson(request, checkAlertBody);
  return toInput({ ...body, eventType: ALERT_KIND, enabled: true, alert: { format, language } }, policy);
}

/** Returns `base` with the values of the input. An application of null removes the application. */
export function withInput<T extends Partial<Configuration>>(
  base: T,
  input: WebhookInput,
): Omit<T & WebhookInput, 'applicationId'> & { readonly applicationId?: string } {
  const { applicationId, ...rest } = { ...base, ...input };
  return { ...rest, ...(typeof applicationId === 'string' ? { applicationId } : {}) };
}

const valuesOf = (configuration: Partial<Configuration>) => ({ ...configuration, ...configuration.alert });
const NAMES = ['ref', 'eventType', 'applicationId', 'enabled', 'format', 'language'] as const;

/**
 * Returns the values of the input that differ from the stored ones, as name and stored value. Two spellings of one URL
 * are equal.
 */
export function differencesOf(
  input: WebhookInput,
  stored: Configuration,
): readonly (readonly [name: string, stored: unknown])[] {
  const next = valuesOf(withInput(stored, input));
  const known = valuesOf(stored);
  const differing = NAMES.filter((name) => next[name] !== known[name]).map(
    (name) => [name, known[name]] as const,
  );
  const isSameUrl = input.normalizedUrl === stored.normalizedUrl;
  return isSameUrl ? differing : [...differing, ['endpointUrl', stored.endpointUrl]];
}
