import { isDeepStrictEqual } from 'node:util';
import { keyIdOf, openSecret, policyOwnerOf, sealSecret } from '@webhooks/contracts';
import type { Keyring } from '@webhooks/contracts';
import { idOf } from '../webhooks/configuration.js';
import type { Configuration } from '../webhooks/configuration.js';
import { PAGE } from './configuration-store.js';
import type { ConfigurationStore } from './configuration-store.js';

/** Returns the configuration with every part sealed by the first key; undefined when it is so already. Throws when no key opens a part. */
function sealAnew(configuration: Configuration, ring: Keyring): Configuration | undefined {
  const key = idOf(configuration);
  const seal = (sealed: string, owner: string): string =>
    keyIdOf(sealed) === ring.keys[0]?.id ? sealed : sealSecret(ring, openSecret(ring, sealed, owner), owner);
  const { secrets, policy, revision } = configuration;
  const anew = {
    secrets: secrets.map((secret) => ({ ...secret, sealed: seal(secret.sealed, key) })),
    policy: { ...policy, ...(policy.sealed && { sealed: seal(policy.sealed, policyOwnerOf(key)) }) },
  };
  if (isDeepStrictEqual(anew, { secrets, policy })) return undefined;
  // Not a change of the webhook: `updatedAt` stays. Readers apply a higher revision only.
  return { ...configuration, ...anew, revision: revision + 1 };
}

/**
 * Seals every document anew that another key than the first has sealed. May be ended at any time and run again: what is
 * done is passed over. config-api publishes the documents. Yields after each page how many documents were seen, how many
 * were (or, with `isDry`, would be) sealed, and how many changed meanwhile. `storeFor` is called for each page.
 */
export async function* rotateKeys(ring: Keyring, storeFor: () => ConfigurationStore, isDry: boolean) {
  const rotation = { seen: 0, sealed: 0, stale: 0 };
  let after = '';
  for (;;) {
    const { page, replace } = storeFor();
    const documents = await page(after, PAGE);
    for (const document of documents) {
      after = idOf(document);
      const anew = sealAnew(document, ring);
      const isStale = anew !== undefined && !isDry && (await replace(document, anew)) !== 'replaced';
      rotation.seen += 1;
      if (isStale) rotation.stale += 1;
      else if (anew !== undefined) rotation.sealed += 1;
    }
    yield rotation;
    if (documents.length < PAGE) return;
  }
}
