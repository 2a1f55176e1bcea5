import type { EventResult, ListedWebhook, Webhook, WebhookList, WebhookSecret } from './types.js';

/**
 * The bodies of good answers, read once at the border. Each parser returns undefined for a body that is not one of its
 * kind; members and words that it does not know pass, because the service may grow.
 */
export type ParseAnswer<T> = (body: unknown) => T | undefined;

type Kind = 'string' | 'boolean' | 'number';

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a body has these members, each of its kind. */
export const has = (value: unknown, members: Readonly<Record<string, Kind>>): boolean =>
  isObject(value) && Object.entries(members).every(([name, kind]) => typeof value[name] === kind);

const LISTED = { ref: 'string', eventType: 'string', endpointUrl: 'string', enabled: 'boolean' } as const;

const isListed = (value: unknown): value is ListedWebhook => has(value, LISTED);
const isWebhook = (value: unknown): value is Webhook =>
  has(value, { ...LISTED, createdAt: 'string', updatedAt: 'string' });
const isSecret = (value: unknown): value is WebhookSecret => has(value, { ref: 'string', secret: 'string' });
const isResult = (value: unknown): value is EventResult => has(value, { index: 'number', status: 'string' });
const isAccepted = (value: unknown): value is { readonly id: string } => has(value, { id: 'string' });
const isList = (value: unknown): value is WebhookList =>
  isObject(value) &&
  typeof value['results'] === 'number' &&
  Array.isArray(value['data']) &&
  value['data'].every(isListed);
const isBatch = (value: unknown): value is { readonly results: readonly EventResult[] } =>
  isObject(value) && Array.isArray(value['results']) && value['results'].every(isResult);

export const parseWebhook: ParseAnswer<Webhook> = (body) => (isWebhook(body) ? body : undefined);
export const parseList: ParseAnswer<WebhookList> = (body) => (isList(body) ? body : undefined);
export const parseSecret: ParseAnswer<WebhookSecret> = (body) => (isSecret(body) ? body : undefined);
/** The id of the one event that was accepted. */
export const parseAcceptedId: ParseAnswer<string> = (body) => (isAccepted(body) ? body.id : undefined);
export const parseResults: ParseAnswer<readonly EventResult[]> = (body) =>
  isBatch(body) ? body.results : undefined;
/** An answer whose body, if any, says nothing. */
export const parseNothing: ParseAnswer<true> = () => true;
