import { exportJWK, generateKeyPair } from 'jose';
import type { JWK } from 'jose';
import { readFile } from 'node:fs/promises';
import { writeWhole } from '../engine/private-file.js';

/** The RSA key in `keysFile` (a key set, RFC 7517), made at the first time (mode 0600); without a file a new one for this start alone. */
export async function loadSigningKey(keysFile: string | undefined): Promise<JWK> {
  const kept = keysFile === undefined ? undefined : await readSigningKey(keysFile);
  if (kept) return kept;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key: JWK = { ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256' };
  if (keysFile !== undefined) await writeWhole(keysFile, `${JSON.stringify({ keys: [key] })}\n`, 'secret');
  return key;
}

async function readSigningKey(keysFile: string): Promise<JWK | undefined> {
  const text = await readFile(keysFile, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const { keys } = JSON.parse(text) as { keys: JWK[] };
    if (keys[0]?.d !== undefined) return keys[0];
  } catch {
    // reported below
  }
  throw new Error(`${keysFile} does not hold a signing key. Remove it: a new one is made at the next start.`);
}
