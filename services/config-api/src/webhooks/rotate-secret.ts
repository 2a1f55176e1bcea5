import { compileCheck, MAX_SECRETS, openSecret, sealSecret } from '@webhooks/contracts';
import type { Keyring } from '@webhooks/contracts';
import { invalidRequest, readJson } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';
import { generateSecret, parseSecret } from '@webhooks/outbound';
import type { ConfigurationName } from '../publication/configuration-cache.js';
import { changeOne } from './change-configuration.js';
import type { Change, StorePorts } from './change-configuration.js';
import { idOf } from './configuration.js';
import type { Configuration, StoredSecret } from './configuration.js';

/** How long a secret still signs after it was replaced. */
const OVERLAP_MS = 86_400_000;

interface RotationRequest {
  /** A secret from another system; absent: a new one is generated. */
  readonly secret?: string;
  /** True: the earlier secrets no longer sign, for example because they leaked. */
  readonly expirePrevious?: boolean;
}

const checkBody = compileCheck<RotationRequest>({
  type: 'object',
  additionalProperties: false,
  properties: { secret: { type: 'string' }, expirePrevious: { type: 'boolean' } },
});

/** Reads the optional body of a rotation. Throws 422 with the faults, and never repeats a secret. */
export function readRotationRequest(request: ApiRequest): RotationRequest {
  if (request.body.byteLength === 0) return {};
  const wanted = readJson(request, checkBody);
  const parsed = wanted.secret === undefined ? undefined : parseSecret(wanted.secret);
  if (parsed?.ok === false) throw invalidRequest([{ property: 'secret', reason: parsed.reason }]);
  return wanted;
}

/** Returns the secrets that still sign, each until 24 h after its own replacement, at most two. */
const previousOf = (secrets: readonly StoredSecret[], now: Date): readonly StoredSecret[] =>
  secrets
    .map((secret) => ({ ...secret, expiresAt: secret.expiresAt ?? new Date(now.getTime() + OVERLAP_MS) }))
    .filter(({ expiresAt }) => expiresAt > now)
    .slice(0, MAX_SECRETS - 1);

/** Whether a sealed value contains this secret. False also when no key opens it. */
function opensTo(keyring: Keyring, sealed: string, secret: string, owner: string): boolean {
  try {
    return openSecret(keyring, sealed, owner) === secret;
  } catch {
    return false;
  }
}

/** `POST …/{ref}/secret`: makes a new signing secret, which is returned once and stored sealed. Earlier ones sign for another 24 h each. */
export async function rotateSecret(
  name: ConfigurationName,
  { secret: imported, expirePrevious }: RotationRequest,
  ports: StorePorts & { readonly keyring: Keyring },
): Promise<Change & { readonly secret: string }> {
  const { keyring } = ports;
  const secret = imported ?? generateSecret();
  const change = (current: Configuration, now: Date): Pick<Configuration, 'secrets'> => {
    // A secret that is sent again is not also listed as its own predecessor.
    const others = current.secrets.filter(({ sealed }) => !opensTo(keyring, sealed, secret, idOf(current)));
    const previous = expirePrevious === true ? [] : previousOf(others, now);
    return { secrets: [{ sealed: sealSecret(keyring, secret, idOf(current)), createdAt: now }, ...previous] };
  };
  return { ...(await changeOne(name, change, ports)), secret };
}
