import { keyIdOf, openPolicySecrets, openSecret, sealPolicySecrets, sealSecret } from '@webhooks/contracts';
import type { Keyring } from '@webhooks/contracts';
import { idOf } from '../webhooks/configuration.js';
import type { Configuration } from '../webhooks/configuration.js';
import { PAGE } from './configuration-store.js';
import type { ConfigurationStore } from './configuration-store.js';

/** Returns the configuration with every part sealed by the first key; undefined when it is so already. Throws when no key opens a part. */
function sealAnew(configuration: Configuration, keyring: Keyring): Configuration | undefined {
  const { secrets, policy, revision } = configuration;
  const owner = idOf(configuration);
  const first = keyring.keys[0]?.id;
  const isOld = (sealed: string | undefined): sealed is string =>
    sealed !== undefined && keyIdOf(sealed) !== first;
  if (!isOld(policy.sealed) && !secrets.some(({ sealed }) => isOld(sealed))) return undefined;
  const seal = (sealed: string): string =>
    isOld(sealed) ? sealSecret(keyring, openSecret(keyring, sealed, owner), owner) : sealed;
  return {
    ...configuration,
    // Not a change of the webhook: `updatedAt` stays. Readers apply a higher revision only.
    revision: revision + 1,
    secrets: secrets.map((secret) => ({ ...secret, sealed: seal(secret.sealed) })),
    policy: isOld(policy.sealed)
      ? {
          ...policy,
          sealed: sealPolicySecrets(keyring, openPolicySecrets(keyring, policy.sealed, owner), owner),
        }
      : policy,
  };
}

interface RotationPorts {
  readonly keyring: Keyring;
  readonly store: () => Pick<ConfigurationStore, 'page' | 'replace'>;
  /** Called after each page. */
  readonly onProgress: (rotation: Rotation) => void;
}

/** Documents that were looked at, those that were (or would be) sealed anew, and those that changed meanwhile. */
export interface Rotation {
  readonly seen: number;
  readonly sealed: number;
  readonly stale: number;
}

/**
 * Seals every document anew that another key than the first has sealed. May be ended at any time and run again: what is
 * done is passed over. config-api publishes the documents. `isDry`: writes nothing.
 */
export async function rotateKeys(ports: RotationPorts, isDry: boolean): Promise<Rotation> {
  let rotation: Rotation = { seen: 0, sealed: 0, stale: 0 };
  let after = '';
  for (;;) {
    const { page, replace } = ports.store();
    const documents = await page(after, PAGE);
    for (const document of documents) {
      after = idOf(document);
      const anew = sealAnew(document, ports.keyring);
      const isStale = anew !== undefined && !isDry && (await replace(document, anew)) !== 'replaced';
      rotation = {
        seen: rotation.seen + 1,
        sealed: rotation.sealed + Number(anew !== undefined && !isStale),
        stale: rotation.stale + Number(isStale),
      };
    }
    ports.onProgress(rotation);
    if (documents.length < PAGE) return rotation;
  }
}
