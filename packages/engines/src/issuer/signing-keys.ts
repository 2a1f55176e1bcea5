import { generateKeyPair } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { writeWhole } from '../private-file.js';

/** A private RSA key as a JSON Web Key (RFC 7517). */
export interface SigningKey {
  readonly kty: 'RSA';
  readonly n: string;
  readonly e: string;
  readonly d: string;
  readonly p: string;
  readonly q: string;
  readonly dp: string;
  readonly dq: string;
  readonly qi: string;
  readonly use: 'sig';
  readonly alg: 'RS256';
}

const PARTS = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'] as const;

/** The key in `keysFile`, made at the first time (mode 0600); without a file a new one for this start alone. */
export async function loadSigningKey(keysFile: string | undefined): Promise<SigningKey> {
  const kept = keysFile === undefined ? undefined : await readSigningKey(keysFile);
  if (kept) return kept;
  const key = await makeSigningKey();
  if (keysFile !== undefined) await writeWhole(keysFile, `${JSON.stringify({ keys: [key] })}\n`, 'secret');
  return key;
}

async function readSigningKey(keysFile: string): Promise<SigningKey | undefined> {
  const text = await readFile(keysFile, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys)) {
      return parseSigningKey(value.keys[0]);
    }
  } catch {
    // reported below
  }
  throw new Error(`${keysFile} does not hold a signing key. Remove it: a new one is made at the next start.`);
}

async function makeSigningKey(): Promise<SigningKey> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  return parseSigningKey(privateKey.export({ format: 'jwk' }));
}

function parseSigningKey(value: unknown): SigningKey {
  const source = new Map<string, unknown>(
    typeof value === 'object' && value !== null ? Object.entries(value) : [],
  );
  const [n, e, d, p, q, dp, dq, qi] = PARTS.map((name) => {
    const part = source.get(name);
    if (typeof part !== 'string') throw new Error(`a private RSA key needs "${name}"`);
    return part;
  }) as [string, string, string, string, string, string, string, string];
  return { kty: 'RSA', n, e, d, p, q, dp, dq, qi, use: 'sig', alg: 'RS256' };
}
