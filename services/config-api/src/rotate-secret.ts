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

/** How long the secret before the new one goes on signing too. */
const OVERLAP_MS = 86_400_000;

function previousOf(current: Configuration, now: Date): readonly StoredSecret[] {
  const [newest] = current.secrets;
  return newest ? [{ ...newest, expiresAt: new Date(now.getTime() + OVERLAP_MS) }] : [];
}

/** `POST …/{ref}/secret`: the first signing secret, or a new one beside which the last one stays valid for 24 h. */
export async function rotateSecret(tenantId: string, ref: string, ports: RotatePorts): Promise<Rotation> {
  const secret = ports.newSecret();
  const change = (current: Configuration): Configuration => {
    const now = ports.now();
    const secrets = [{ sealed: ports.seal(secret, current), createdAt: now }, ...previousOf(current, now)];
    return revise(current, { secrets }, now);
  };
  const plan = {
    find: () => getWebhook(tenantId, ref, ports.findByRef),
    change,
    onTaken: () => Promise.reject(new Error('a new secret collided with another configuration')),
  };
  return { ...(await changeConfiguration(plan, ports)), secret };
}
