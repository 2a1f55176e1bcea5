import type { Keyring } from '@webhooks/contracts';
import { refOf } from '@webhooks/http-api';
import type { ApiRequest, Operation } from '@webhooks/http-api';
import type { EgressAddress } from '../config.js';
import type { DeliveryPolicies } from '../policies/delivery-policies.js';
import type { PolicyInput } from '../policies/policy-input.js';
import type { ConfigurationName } from '../publication/configuration-cache.js';
import { changeOne } from './change-configuration.js';
import type { Change } from './change-configuration.js';
import { isAlertEndpoint, isWebhook, toAlertView, toView } from './configuration.js';
import type { Configuration } from './configuration.js';
import { LIST_PARAMETERS, listWebhooks, readListQuery } from './list-webhooks.js';
import { createMakeChange } from './make-change.js';
import type { MakeChange, MakeChangePorts } from './make-change.js';
import { registerWebhook } from './register-webhook.js';
import type { RegisterPorts } from './register-webhook.js';
import { readRotationRequest, rotateSecret } from './rotate-secret.js';
import { updateWebhook } from './update-webhook.js';
import type { WebhookInput } from './webhook-input.js';

export interface OperationPorts extends MakeChangePorts {
  readonly keyring: Keyring;
  readonly readInput: (request: ApiRequest) => WebhookInput;
  readonly readAlertInput: (request: ApiRequest) => WebhookInput;
  readonly readPolicy: (request: ApiRequest) => PolicyInput;
  readonly policies: DeliveryPolicies;
  readonly now: () => Date;
  readonly maxWebhooks: number;
  readonly egress: readonly EgressAddress[];
}

const COLLECTION = '/integration/v1/webhooks';
const ONE = `${COLLECTION}/:ref`;
const ALERTS = '/integration/v1/alert-endpoints';
/** The source addresses of deliveries, for the firewall of an integrator. */
const EGRESS = '/integration/v1/egress';
const MAX_BODY_BYTES = 16_384;
/** A certificate of 16 KiB and ten headers of 1 KiB have 27 KiB, or twice that when JSON escapes every character. */
const MAX_POLICY_BYTES = 65_536;

/** Makes the field `published: false`: the change is durable, but not in force yet. Empty when it is in force. */
const publishedField = (published: boolean): { published?: false } => (published ? {} : { published: false });

type Handler = Operation['handle'];
type ChangePorts = OperationPorts & { readonly make: MakeChange };

const saveHandler =
  (
    action: 'register' | 'update',
    save: (tenantId: string, input: WebhookInput, ports: RegisterPorts) => Promise<Change>,
    { make, now, readInput, maxWebhooks }: ChangePorts,
    view: (configuration: Configuration) => object = toView,
  ): Handler =>
  async (request) => {
    const { tenantId } = request.identity;
    const input = readInput(request);
    const { before, after, published } = await make({ action, request, input }, (store) =>
      save(tenantId, input, { ...store, now, maxWebhooks }),
    );
    const moved = before !== undefined && before.endpointUrl !== after.endpointUrl;
    const previous = moved ? { previousEndpointUrl: before.endpointUrl } : {};
    return { status: 200, body: { ...view(after), ...previous, ...publishedField(published) } };
  };

const listHandler =
  ({ storeFor, runExclusive }: OperationPorts): Handler =>
  async ({ identity: { tenantId }, query }) => {
    const wanted = readListQuery(query);
    const { list } = storeFor();
    // A list of 1,000 webhooks takes 50 ms of CPU time. Lists of one tenant run one at a time.
    const listing = () => listWebhooks(tenantId, wanted, list);
    return { status: 200, body: await runExclusive(`lists of ${tenantId}`, listing) };
  };

const nameOf = (request: ApiRequest): ConfigurationName => ({
  tenantId: request.identity.tenantId,
  ref: refOf(request),
});

const showHandler =
  (
    { storeFor }: OperationPorts,
    view: (configuration: Configuration) => unknown,
    isWanted?: (found: Configuration) => boolean,
  ): Handler =>
  async (request) => ({ status: 200, body: view(await storeFor().get(nameOf(request), isWanted)) });

const listed = (data: readonly object[]) => ({ status: 200, body: { data, results: data.length } });

const changesHandler =
  ({ storeFor }: OperationPorts): Handler =>
  async (request) => {
    const { get, changes } = storeFor();
    // Of an ended alert endpoint, too.
    const { tenantId, ref } = await get(nameOf(request), () => true);
    return listed(await changes({ tenantId, ref }));
  };

const listAlertsHandler =
  ({ storeFor }: OperationPorts): Handler =>
  async ({ identity: { tenantId } }) =>
    listed((await storeFor().alertEndpoints(tenantId)).map(toAlertView));

/**
 * Removes a secret or a policy, or ends an alert endpoint. The response has no body for `published`: 202 means that the change is not in force
 * yet.
 */
const removeHandler =
  (
    action: 'remove-secret' | 'remove-policy' | 'end',
    empty: Partial<Configuration>,
    { make, now }: ChangePorts,
    isWanted?: (found: Configuration) => boolean,
  ): Handler =>
  async (request) => {
    const { published } = await make({ action, request }, (store) => {
      const get = (name: ConfigurationName) => store.get(name, isWanted);
      return changeOne(nameOf(request), () => empty, { ...store, get, now });
    });
    return { status: published ? 204 : 202 };
  };

const rotateHandler =
  ({ make, now, keyring }: ChangePorts): Handler =>
  async (request) => {
    const wanted = readRotationRequest(request);
    const { after, secret, published } = await make({ action: 'rotate-secret', request }, (store) =>
      rotateSecret(nameOf(request), wanted, { ...store, now, keyring }),
    );
    const until = after.secrets[1]?.expiresAt?.toISOString();
    const previous = until === undefined ? {} : { previousValidUntil: until };
    return { status: 200, body: { ref: after.ref, secret, ...previous, ...publishedField(published) } };
  };

const replacePolicyHandler =
  ({ make, now, readPolicy, policies }: ChangePorts): Handler =>
  async (request) => {
    const input = readPolicy(request);
    const replace = (current: Configuration) => ({ policy: policies.replace(current, input) });
    const { after, published } = await make({ action: 'replace-policy', request }, (store) =>
      changeOne(nameOf(request), replace, { ...store, now }),
    );
    return { status: 200, body: { ...policies.view(after), ...publishedField(published) } };
  };

const READ = ['webhook.read'] as const;
const WRITE = ['webhook.write'] as const;

/** Every operation of this service; `openapi.yaml` describes the same set. */
export function createOperations(ports: OperationPorts): readonly Operation[] {
  const changing = { ...ports, make: createMakeChange(ports) };
  const all = { path: COLLECTION, scopes: WRITE, maxBodyBytes: MAX_BODY_BYTES };
  const alerts = { ...all, path: ALERTS };
  const alert = { path: `${ALERTS}/:ref`, scopes: WRITE };
  const registering = { ...changing, readInput: ports.readAlertInput };
  const ended = { enabled: false, secrets: [], policy: {} };
  const secret = { path: `${ONE}/secret`, scopes: WRITE };
  const policy = { path: `${ONE}/policy`, scopes: WRITE };
  const policyOf = (configuration: Configuration) => ports.policies.view(configuration);
  return [
    { method: 'GET', path: COLLECTION, scopes: READ, query: LIST_PARAMETERS, handle: listHandler(ports) },
    { method: 'POST', ...all, handle: saveHandler('register', registerWebhook, changing) },
    { method: 'PUT', ...all, handle: saveHandler('update', updateWebhook, changing) },
    { method: 'GET', path: ONE, scopes: READ, handle: showHandler(ports, toView, isWebhook) },
    { method: 'POST', ...secret, maxBodyBytes: MAX_BODY_BYTES, handle: rotateHandler(changing) },
    { method: 'DELETE', ...secret, handle: removeHandler('remove-secret', { secrets: [] }, changing) },
    { method: 'GET', path: `${ONE}/changes`, scopes: READ, handle: changesHandler(ports) },
    { method: 'GET', path: EGRESS, scopes: READ, handle: () => Promise.resolve(listed(ports.egress)) },
    { method: 'GET', ...policy, scopes: READ, handle: showHandler(ports, policyOf) },
    { method: 'PUT', ...policy, maxBodyBytes: MAX_POLICY_BYTES, handle: replacePolicyHandler(changing) },
    { method: 'DELETE', ...policy, handle: removeHandler('remove-policy', { policy: {} }, changing) },
    { method: 'GET', path: ALERTS, scopes: READ, handle: listAlertsHandler(ports) },
    { method: 'POST', ...alerts, handle: saveHandler('register', registerWebhook, registering, toAlertView) },
    { method: 'DELETE', ...alert, handle: removeHandler('end', ended, changing, isAlertEndpoint) },
  ];
}
