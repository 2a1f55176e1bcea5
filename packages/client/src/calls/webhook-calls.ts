import type { AuthorizedCall } from './token-source.js';
import type { RequestOptions } from './call.js';
import * as parse from './parse-response.js';
import type { ParseResponse } from './parse-response.js';
import type * as Types from '../types/types.js';

export const WEBHOOKS = '/integration/v1/webhooks';
const ALERTS = '/integration/v1/alert-endpoints';
/** A POST that must not be retried. The service responds with 202 and does the work afterwards. */
export const ONCE = { method: 'POST', statuses: [202], retryable: false } as const;

const at = (ref: string, part = ''): string => `${WEBHOOKS}/${encodeURIComponent(ref)}${part}`;

/** Webhooks: registration, secrets, policies, changes and health; alert endpoints. */
export type WebhookCalls = ReturnType<typeof createWebhookCalls>;

export function createWebhookCalls(configApi: AuthorizedCall, query: AuthorizedCall) {
  const get = <T>(url: string, read: ParseResponse<T>, options?: RequestOptions, params?: object) =>
    configApi({ method: 'GET', url, params, parse: read, options });
  const remove = async (url: string, options?: RequestOptions): Promise<void> => {
    await configApi({ method: 'DELETE', url, statuses: [202, 204], parse: parse.parseNothing, options });
  };
  return {
    register: (data: Types.WebhookInput, options?: RequestOptions) =>
      configApi({ method: 'POST', url: WEBHOOKS, data, parse: parse.parseWebhook, options }),
    update: (data: Types.WebhookInput, options?: RequestOptions) =>
      configApi({ method: 'PUT', url: WEBHOOKS, data, parse: parse.parseWebhook, options }),
    list: (filter?: Types.WebhookFilter, options?: RequestOptions) =>
      get(WEBHOOKS, parse.parseWebhookList, options, filter),
    get: (ref: string, options?: RequestOptions) => get(at(ref), parse.parseWebhook, options),
    /**
     * Never retried automatically, whatever `maxRetries` says. After a lost response, call it again: up to two earlier secrets stay valid, 24
     * h each. Further calls would drop the secret that the receiver still uses.
     */
    rotateSecret: (ref: string, data?: Types.SecretInput, options?: RequestOptions) => {
      const url = at(ref, '/secret');
      return configApi({ method: 'POST', url, data, retryable: false, parse: parse.parseSecret, options });
    },
    removeSecret: (ref: string, options?: RequestOptions) => remove(at(ref, '/secret'), options),
    /** The source addresses of deliveries, for firewalls. */
    egress: (options?: RequestOptions) => get('/integration/v1/egress', parse.parseEgressList, options),
    policy: (ref: string, options?: RequestOptions) => get(at(ref, '/policy'), parse.parsePolicy, options),
    setPolicy: (ref: string, data: Types.PolicyInput, options?: RequestOptions) =>
      configApi({ method: 'PUT', url: at(ref, '/policy'), data, parse: parse.parsePolicy, options }),
    /** Removes the policy, so that the defaults apply. */
    removePolicy: (ref: string, options?: RequestOptions) => remove(at(ref, '/policy'), options),
    /** Lists the last 20 changes of a webhook or an alert endpoint, the newest first. */
    changes: (ref: string, options?: RequestOptions) => get(at(ref, '/changes'), parse.parseChanges, options),
    alertEndpoints: (options?: RequestOptions) => get(ALERTS, parse.parseAlertEndpointList, options),
    createAlertEndpoint: (data: Types.AlertEndpointInput, options?: RequestOptions) =>
      configApi({ method: 'POST', url: ALERTS, data, parse: parse.parseAlertEndpoint, options }),
    deleteAlertEndpoint: (ref: string, options?: RequestOptions) =>
      remove(`${ALERTS}/${encodeURIComponent(ref)}`, options),
    health: (ref: string, options?: RequestOptions) =>
      query({ method: 'GET', url: at(ref, '/health'), parse: parse.parseHealth, options }),
    /** Sends a test event to one endpoint. Never retried automatically. */
    sendTest: (ref: string, options?: RequestOptions) =>
      query({ ...ONCE, url: at(ref, '/test'), parse: parse.parseTest, options }),
  };
}
