import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Keys that encrypt secrets in Kafka and in the database. The first key seals, and every key opens. */
export interface Keyring {
  readonly keys: readonly { readonly id: string; readonly key: Buffer }[];
}

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

function parseKey(entry: string): { id: string; key: Buffer } {
  const [id, encoded, ...rest] = entry.trim().split(':');
  const key = Buffer.from(encoded ?? '', 'base64');
  if (!id || rest.length > 0 || !/^[A-Za-z0-9_-]{1,32}$/.test(id) || key.byteLength !== 32) {
    throw new Error('expected `id:key` with an id of 1–32 letters, digits, _ or -, and 32 bytes in base64');
  }
  return { id, key };
}

/** Parses `id:base64[,id:base64…]`. Throws with the expected form, never with a key. */
export function parseKeyring(text: string): Keyring {
  const keys = text.split(',').map(parseKey);
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) throw new Error('two keys have the same id');
  return { keys };
}

/**
 * Encrypts a secret with AES-256-GCM and the first key of the ring. `owner` (tenant and ref) is authenticated as
 * additional data, so a sealed secret that was moved to another configuration cannot be opened.
 */
export function sealSecret(ring: Keyring, secret: string, owner: string): string {
  const first = ring.keys[0];
  if (!first) throw new Error('no key to seal a secret with');
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, first.key, iv).setAAD(Buffer.from(owner));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return ['v1', first.id, Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')].join('.');
}

/** Returns the id of the key that sealed a secret. */
export const keyIdOf = (sealed: string | undefined): string | undefined => sealed?.split('.')[1];

/** Returns the id of a key that one of these sealed values needs and the ring lacks; undefined when none is missing. */
export const missingKey = (ring: Keyring, sealed: readonly (string | undefined)[]): string | undefined =>
  sealed.flatMap((one) => keyIdOf(one) ?? []).find((needed) => !ring.keys.some(({ id }) => id === needed));

/** Decrypts a sealed secret. Throws when the key is not in the ring, or when the text or the owner was changed. */
export function openSecret(ring: Keyring, sealed: string, owner: string): string {
  const [version, id, encoded] = sealed.split('.');
  const key = ring.keys.find((candidate) => candidate.id === id)?.key;
  if (version !== 'v1' || !encoded || !key)
    throw new Error(`the sealed secret of ${owner} names a version or a key that this service does not have`);
  const bytes = Buffer.from(encoded, 'base64url');
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(owner))
    .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString(
    'utf8',
  );
}
