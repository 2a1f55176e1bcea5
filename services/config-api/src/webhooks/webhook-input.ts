import { EVENT_TYPES, PATTERNS, compileCheck } from '@webhooks/contracts';
import type { Check, EventType } from '@webhooks/contracts';
import { invalidRequest, readJson } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';
import { checkEndpointUrl } from '@webhooks/outbound';
import type { UrlPolicy } from '@webhooks/outbound';
import type { Configuration, Route } from './configuration.js';

/** The body of POST and PUT, with a checked URL and a lower-case ref. Fields that the caller left out are absent. */
export interface WebhookInput extends Route {
  readonly enabled?: boolean;
  readonly ref?: string;
}

interface WebhookBody {
  readonly eventType: EventType;
  readonly endpointUrl: string;
  readonly applicationId?: string | null;
  readonly enabled?: boolean;
  readonly ref?: string;
}

/** No control, format or invisible characters, and spaces only inside, so that names that look equal are equal. */
const APPLICATION_ID = '^(?! )([^\\p{Cc}\\p{Cf}\\p{DI}\\p{Z}]| ){1,128}(?<! )$';

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
    ref: { type: 'string', pattern: PATTERNS.givenRef, description: 'must be a UUID' },
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

/** Reads the body of POST or PUT. Throws 422 with the faults. */
export function readWebhookInput(request: ApiRequest, policy: UrlPolicy): WebhookInput {
  const { ref, ...body } = readJson(request, checkComposed);
  const url = checkEndpointUrl(body.endpointUrl, policy);
  if (!url.ok) {
    throw invalidRequest([{ property: 'endpointUrl', reason: url.reason }], 'invalid-endpoint-url');
  }
  return {
    ...body,
    ...(ref === undefined ? {} : { ref: ref.toLowerCase() }),
    normalizedUrl: url.normalized,
  };
}

/** Returns `base` with the values of the input. An application of null removes the application. */
export function withInput<T extends Partial<Configuration>>(
  base: T,
  input: WebhookInput,
): Omit<T & WebhookInput, 'applicationId'> & { readonly applicationId?: string } {
  const { applicationId, ...rest } = { ...base, ...input };
  return { ...rest, ...(typeof applicationId === 'string' ? { applicationId } : {}) };
}

/** Returns the names of the input's values that differ from the stored ones. Two spellings of one URL are equal. */
export function differencesOf(
  input: WebhookInput,
  stored: Configuration,
): readonly ('ref' | 'eventType' | 'endpointUrl' | 'applicationId' | 'enabled')[] {
  const next = withInput(stored, input);
  const names = ['ref', 'eventType', 'applicationId', 'enabled'] as const;
  const differing = names.filter((name) => next[name] !== stored[name]);
  return next.normalizedUrl === stored.normalizedUrl ? differing : [...differing, 'endpointUrl'];
}
