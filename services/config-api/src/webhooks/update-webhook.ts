import { AppError, databaseUnavailable } from '@webhooks/http-api';
import { changeConfiguration } from './change-configuration.js';
import type { Change, StorePorts } from './change-configuration.js';
import { isAlertEndpoint, revise } from './configuration.js';
import type { Configuration } from './configuration.js';
import { requireFormat } from '../policies/delivery-policies.js';
import { alreadyRegistered } from './register-webhook.js';
import { withInput } from './webhook-input.js';
import type { WebhookInput } from './webhook-input.js';

/** Most candidates in a response. */
const MAX_CANDIDATES = 100;

const listOf = (candidates: readonly Configuration[]) => ({
  candidates: candidates
    .slice(0, MAX_CANDIDATES)
    .map(({ ref, endpointUrl, applicationId }) => ({ ref, endpointUrl, applicationId })),
});

/** Makes the error for an unknown webhook. It lists webhooks with the same event type and URL first, then `ofType`. */
async function notRegistered(
  tenantId: string,
  input: WebhookInput,
  ports: StorePorts,
  ofType: readonly Configuration[] = [],
): Promise<AppError> {
  const candidates = [...(await ports.findByUrl(tenantId, input, MAX_CANDIDATES)), ...ofType];
  const missing =
    input.ref === undefined ? 'no webhook is registered with these values' : 'no webhook has this ref';
  const advice = candidates.length === 0 ? 'register it with POST' : 'candidates lists similar webhooks';
  return new AppError('webhook-not-registered', `${missing}; ${advice}`, { members: listOf(candidates) });
}

const ambiguous = (candidates: readonly Configuration[]): AppError =>
  new AppError('webhook-ambiguous', 'several webhooks match; name one of them by its ref', {
    violations: [{ property: 'ref', reason: 'is needed, because several webhooks match' }],
    members: listOf(candidates),
  });

/**
 * Finds a configuration without a ref: the one with this application, event type and URL, else the only one of this
 * application and event type. A request that disables must match exactly: a typo in its URL would disable another
 * endpoint.
 */
async function findUnnamed(
  tenantId: string,
  input: WebhookInput,
  ports: StorePorts,
): Promise<Configuration | undefined> {
  const exact = await ports.findByRoute(tenantId, input);
  if (exact) return exact;
  const candidates = await ports.findByType(tenantId, input, MAX_CANDIDATES);
  if (input.enabled === false) throw await notRegistered(tenantId, input, ports, candidates);
  if (candidates.length > 1) throw ambiguous(candidates);
  return candidates[0];
}

async function find(tenantId: string, input: WebhookInput, ports: StorePorts): Promise<Configuration> {
  const found =
    input.ref === undefined
      ? await findUnnamed(tenantId, input, ports)
      : await ports.findByRef(tenantId, input.ref);
  if (!found || isAlertEndpoint(found)) throw await notRegistered(tenantId, input, ports);
  return found;
}

/**
 * `PUT`: changes the configuration that the ref or the values identify. URL and event type are required. An absent
 * application or `enabled` stays, so that an update does not enable a webhook by accident.
 */
export function updateWebhook(tenantId: string, input: WebhookInput, ports: StorePorts): Promise<Change> {
  const plan = {
    find: () => find(tenantId, input, ports),
    change: (current: Configuration) => {
      const next = revise(withInput(current, input), {}, ports.now());
      requireFormat(next, 'eventType');
      return next;
    },
    onTaken: async (next: Configuration): Promise<never> => {
      const holder = await ports.findByRoute(tenantId, next);
      throw holder ? alreadyRegistered(holder, input) : databaseUnavailable();
    },
  };
  return changeConfiguration(plan, ports);
}
