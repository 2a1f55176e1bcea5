import type { AuthorizedCall } from './token-source.js';
import type { RequestOptions } from './call.js';
import {
  parseAlertEndpoint,
  parseAlertEndpointList,
  parseChanges,
  parseEgressList,
  parseHealth,
  parseNothing,
  parsePolicy,
  parseSecret,
  parseTest,
  parseWebhook,
  parseWebhookList,
} from './parse-response.js';
import type * as Types from '../types/types.js';

/** Webhooks: registration, secrets, policies, changes and health; alert endpoints. */
export interface WebhookCalls {
  register(webhook: Types.WebhookInput, options?: RequestOptions): Promise<Types.Webhook>;
  update(webhook: Types.WebhookInput, options?: RequestOptions): Promise<Types.Webhook>;
  list(filter?: Types.WebhookFilter, options?: RequestOptions): Promise<Types.WebhookList>;
  get(ref: string, options?: RequestOptions): Promise<Types.Webhook>;
  /**
   * Never retried automatically, whatever `maxRetries` says. After a lost response, call it again: up to two earlier secrets stay valid, 24
   * h each. Further calls would drop the secret that the receiver still uses.
   */
  rotateSecret(
    ref: string,
    input?: Types.SecretInput,
    options?: RequestOptions,
  ): Promise<Types.WebhookSecret>;
  removeSecret(ref: string, options?: RequestOptions): Promise<void>;
  /** The source addresses of deliveries, for firewalls. */
  egress(options?: RequestOptions): Promise<Types.EgressList>;
  policy(ref: string, options?: RequestOptions): Promise<Types.DeliveryPolicy>;
  setPolicy(ref: string, policy: Types.PolicyInput, options?: RequestOptions): Promise<Types.DeliveryPolicy>;
  /** Removes the policy, so that the defaults apply. */
  removePolicy(ref: string, options?: RequestOptions): Promise<void>;
  /** Lists the last 20 changes of a webhook or an alert endpoint, the newest first. */
  changes(ref: string, options?: RequestOptions): Promise<Types.ChangeList>;
  alertEndpoints(options?: RequestOptions): Promise<Types.AlertEndpointList>;
  createAlertEndpoint(
    input: Types.AlertEndpointInput,
    options?: RequestOptions,
  ): Promise<Types.AlertEndpoint>;
  deleteAlertEndpoint(ref: string, options?: RequestOptions): Promise<void>;
  health(ref: string, options?: RequestOptions): Promise<Types.EndpointHealth>;
  /** Sends a test event to one endpoint. Never retried automatically. */
  sendTest(ref: string, options?: RequestOptions): Promise<Types.TestNotification>;
}

export const WEBHOOKS = '/integration/v1/webhooks';
const ALERT_ENDPOINTS = '/integration/v1/alert-endpoints';
/** A POST that must not be retried. The service responds with 202 and does the work afterwards. */
export const ONCE = { method: 'POST', statuses: [202], retryable: false } as const;

const at = (ref: string, part = ''): string => `${WEBHOOKS}/${encodeURIComponent(ref)}${part}`;

export function createWebhookCalls(configApi: AuthorizedCall, query: AuthorizedCall): WebhookCalls {
  const remove = async (url: string, options?: RequestOptions): Promise<void> => {
    await configApi({ method: 'DELETE', url, statuses: [202, 204], parse: parseNothing, options });
  };
  return {
    register: (data, options) =>
      configApi({ method: 'POST', url: WEBHOOKS, data, parse: parseWebhook, options }),
    update: (data, options) =>
      configApi({ method: 'PUT', url: WEBHOOKS, data, parse: parseWebhook, options }),
    list: (params, options) =>
      configApi({ method: 'GET', url: WEBHOOKS, params, parse: parseWebhookList, options }),
    get: (ref, options) => configApi({ method: 'GET', url: at(ref), parse: parseWebhook, options }),
    rotateSecret: (ref, data, options) => {
      const url = at(ref, '/secret');
      return configApi({ method: 'POST', url, data, retryable: false, parse: parseSecret, options });
    },
    egress: (options) =>
      configApi({ method: 'GET', url: '/integration/v1/egress', parse: parseEgressList, options }),
    removeSecret: (ref, options) => remove(at(ref, '/secret'), options),
    policy: (ref, options) =>
      configApi({ method: 'GET', url: at(ref, '/policy'), parse: parsePolicy, options }),
    setPolicy: (ref, data, options) =>
      configApi({ method: 'PUT', url: at(ref, '/policy'), data, parse: parsePolicy, options }),
    removePolicy: (ref, options) => remove(at(ref, '/policy'), options),
    changes: (ref, options) =>
      configApi({ method: 'GET', url: at(ref, '/changes'), parse: parseChanges, options }),
    alertEndpoints: (options) =>
      configApi({ method: 'GET', url: ALERT_ENDPOINTS, parse: parseAlertEndpointList, options }),
    createAlertEndpoint: (data, options) =>
      configApi({ method: 'POST', url: ALERT_ENDPOINTS, data, parse: parseAlertEndpoint, options }),
    deleteAlertEndpoint: (ref, options) => remove(`${ALERT_ENDPOINTS}/${encodeURIComponent(ref)}`, options),
    health: (ref, options) => query({ method: 'GET', url: at(ref, '/health'), parse: parseHealth, options }),
    sendTest: (ref, options) => query({ ...ONCE, url: at(ref, '/test'), parse: parseTest, options }),
  };
}
