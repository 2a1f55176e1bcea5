import { MAX_SECRETS, compileCheck } from '@webhooks/contracts';
import { readJson } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';
import { changeConfiguration } from './change-configuration.js';
import type { Change, ChangePorts } from './change-configuration.js';
import { revise } from './configuration.js';
import type { Configuration, StoredSecret } from './configuration.js';
import { getWebhook } from './get-webhook.js';
import type { FindByRef } from './get-webhook.js';

export interface RotatePorts extends ChangePorts {
  readonly findByRef: FindByRef;
  readonly newSecret: () => string;
  readonly seal: (secret: string, configuration: Configuration) => string;
  readonly now: () => Date;
}

export interface Rotation extends Change {
  /** The new secret, shown this once and kept only sealed. */
  readonly secret: string;
}

/** How long a secret signs beside the one that replaced it. */
const OVERLAP_MS = 86_400_000;

export interface RotationRequest {
  /** The secrets before the new one end at once: they leaked. */
  readonly expirePrevious?: boolean;
}

const checkBody = compileCheck<RotationRequest>({
  type: 'object',
  additionalProperties: false,
  properties: { expirePrevious: { type: 'boolean' } },
});

/** The optional body of a rotation. Throws 422 that names what is wrong with it. */
export const readRotationRequest = (request: ApiRequest): RotationRequest =>
  request.body.byteLength === 0 ? {} : readJson(request, checkBody);

/** Secrets that go on signing, each for its own 24 h: a rotation repeated after a lost answer takes none away. */
const previousOf = ({ secrets }: Configuration, now: Date): readonly StoredSecret[] =>
  secrets
    .map((secret) => ({ ...secret, expiresAt: secret.expiresAt ?? new Date(now.getTime() + OVERLAP_MS) }))
    .filter(({ expiresAt }) => expiresAt > now)
    .slice(0, MAX_SECRETS - 1);

/** `POST …/{ref}/secret`: the first signing secret, or a new one beside which the last ones stay valid for 24 h each. */
export async function rotateSecret(
  tenantId: string,
  ref: string,
  ports: RotatePorts & RotationRequest,
): Promise<Rotation> {
  const secret = ports.newSecret();
  const change = (current: Configuration): Configuration => {
    const now = ports.now();
    const previous = ports.expirePrevious === true ? [] : previousOf(current, now);
    const secrets = [{ sealed: ports.seal(secret, current), createdAt: now }, ...previous];
    return revise(current, { secrets }, now);
  };
  const plan = {
    find: () => getWebhook(tenantId, ref, ports.findByRef),
    change,
    onTaken: () => Promise.reject(new Error('a new secret collided with another configuration')),
  };
  return { ...(await changeConfiguration(plan, ports)), secret };
}
