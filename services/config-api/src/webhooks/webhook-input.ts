import { EVENT_TYPES, PATTERNS, compileCheck } from '@webhooks/contracts';
import type { Check, EventType } from '@webhooks/contracts';
import { invalidRequest, readJson } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';
import { checkEndpointUrl } from '@webhooks/outbound';
import type { UrlPolicy } from '@webhooks/outbound';
import type { Configuration, Route } from './configuration.js';

/** What POST and PUT take, its URL checked and its ref in lower case. What the caller left out is absent. */
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

/** No control, format or invisible character, and no blank but spaces inside: names that look alike are one name. */
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
        'must be a string of 1 to 128 characters, none of them control, format, invisible or surrounding blank, or null',
    },
    enabled: { type: 'boolean' },
    ref: { type: 'string', pattern: PATTERNS.givenRef, description: 'must be a UUID' },
  },
});

/** UTF-16 units of 128 characters before they are composed: up to four each (UAX #15). Composing 8,000 marks takes 40 ms. */
const MAX_APPLICATION_UNITS = 4 * 128;

/** An application is kept composed (Unicode NFC): two spellings are one name. One that is too long is refused as it is. */
const checkComposed: Check<WebhookBody> = (value) => {
  const { applicationId } = Object(value) as { applicationId?: unknown };
  if (typeof applicationId !== 'string' || applicationId.length > MAX_APPLICATION_UNITS)
    return checkBody(value);
  return checkBody({ ...Object(value), applicationId: applicationId.normalize('NFC') });
};

/** The body of POST or PUT. Throws 422 that names what is wrong with it. */
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

/** The values of `base` with those that were given over them; an application of null is none. */
export function withInput<T extends Partial<Configuration>>(
  base: T,
  input: WebhookInput,
): Omit<T & WebhookInput, 'applicationId'> & { readonly applicationId?: string } {
  const { applicationId, ...rest } = { ...base, ...input };
  return { ...rest, ...(typeof applicationId === 'string' ? { applicationId } : {}) };
}

/** Names of the given values that a stored configuration does not have; two spellings of one URL are one value. */
export function differencesOf(
  input: WebhookInput,
  stored: Configuration,
): readonly ('ref' | 'eventType' | 'endpointUrl' | 'applicationId' | 'enabled')[] {
  const next = withInput(stored, input);
  const names = ['ref', 'eventType', 'applicationId', 'enabled'] as const;
  const differing = names.filter((name) => next[name] !== stored[name]);
  return next.normalizedUrl === stored.normalizedUrl ? differing : [...differing, 'endpointUrl'];
}
