import { EVENT_TYPES, compileCheck } from '@webhooks/contracts';
import type { EventType } from '@webhooks/contracts';
import { invalidRequest, readJson } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';
import { checkEndpointUrl } from '@webhooks/outbound';
import type { UrlPolicy } from '@webhooks/outbound';
import type { Configuration, Route } from './configuration.js';

/** What POST and PUT take (spec §2.1), its URL checked. What the caller left out is absent. */
export interface WebhookInput extends Route {
  readonly enabled?: boolean;
  readonly ref?: string;
}

/** A UUID of any version in its canonical form (RFC 9562 §4): in lower case, so that a ref has one spelling. */
export const REF_PATTERN = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';

interface WebhookBody {
  readonly eventType: EventType;
  readonly endpointUrl: string;
  readonly applicationId?: string;
  readonly enabled?: boolean;
  readonly ref?: string;
}

const checkBody = compileCheck<WebhookBody>({
  type: 'object',
  additionalProperties: false,
  required: ['eventType', 'endpointUrl'],
  properties: {
    eventType: { type: 'string', enum: EVENT_TYPES },
    endpointUrl: { type: 'string' },
    applicationId: { type: 'string', minLength: 1, maxLength: 128 },
    enabled: { type: 'boolean' },
    ref: { type: 'string', pattern: REF_PATTERN },
  },
});

/** The body of POST or PUT. Throws 422 that names what is wrong with it. */
export function readWebhookInput(request: ApiRequest, policy: UrlPolicy): WebhookInput {
  const body = readJson(request, checkBody);
  const url = checkEndpointUrl(body.endpointUrl, policy);
  if (!url.ok) {
    throw invalidRequest([{ property: 'endpointUrl', reason: url.reason }], 'invalid-endpoint-url');
  }
  return { ...body, normalizedUrl: url.normalized };
}

/** Whether a stored configuration has every value that was given; two spellings of one URL are one value. */
export const agrees = (input: WebhookInput, stored: Configuration): boolean =>
  input.eventType === stored.eventType &&
  input.normalizedUrl === stored.normalizedUrl &&
  (input.applicationId ?? stored.applicationId) === stored.applicationId &&
  (input.enabled ?? stored.enabled) === stored.enabled &&
  (input.ref ?? stored.ref) === stored.ref;
