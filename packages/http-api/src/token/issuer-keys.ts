import { createRemoteJWKSet, customFetch } from 'jose';
import { shown } from './token-faults.js';

/** Where the keys of a token issuer are. */
export interface KeySource {
  /** The issuer. Found by discovery: with or without a trailing slash. */
  readonly issuer: string;
  /** Address of the key set. Absent: it is found by discovery. */
  readonly jwksUri?: string | undefined;
}

/** Deadline of discovery and key set together: a fault is reported within 5 s of the start. Milliseconds. */
const DEADLINE_MS = 4_000;
/** Largest document of an issuer, bytes: ten times the key sets of large vendors. */
const MAX_DOCUMENT_BYTES = 262_144;
/**
 * Pause between requests. Without it, each token with an unknown key would cause one. A rotation that follows a request
 * refuses tokens of the new key for this long. So unknown keys cause at most one discovery and one request for the keys
 * in this time. Milliseconds.
 */
export const FETCH_PAUSE_MS = 1_000;

async function readBody(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_DOCUMENT_BYTES) throw new Error(`expected at most ${MAX_DOCUMENT_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

type Document = Readonly<Record<string, unknown>>;

/** Fetches a JSON document of the issuer. Throws with the address and the reason. */
async function fetchJson(address: string, signal: AbortSignal): Promise<Document> {
  try {
    const response = await fetch(address, { signal, redirect: 'manual' });
    if (response.ok) return Object(JSON.parse(await readBody(response.body))) as Document;
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  } catch (cause) {
    const fault = (cause as Error).cause ?? cause;
    const { code, message } = fault as Error & { readonly code?: unknown };
    throw new Error(`no JSON document at ${address}: ${typeof code === 'string' ? code : message}`, {
      cause,
    });
  }
}

const withoutSlash = (address: string): string => address.replace(/\/$/, '');

const OPENID = '/.well-known/openid-configuration';
const OAUTH = '/.well-known/oauth-authorization-server';

/** Returns the addresses of an issuer's metadata: OpenID Connect Discovery §4, RFC 8414 §3.1, and its path appended. */
function metadataAddresses(issuer: string): readonly string[] {
  const base = withoutSlash(issuer);
  const { origin, pathname } = new URL(base);
  return [`${base}${OPENID}`, `${origin}${OAUTH}${withoutSlash(pathname)}`, `${base}${OAUTH}`];
}

/** Returns the exact value of `iss`, and the address of the keys. */
function readMetadata({ issuer, jwks_uri: jwksUri }: Document, address: string, configured: string) {
  if (typeof issuer !== 'string' || withoutSlash(issuer) !== withoutSlash(configured))
    throw new Error(`${address} names the issuer ${shown(issuer)}: check TOKEN_ISSUER, now ${configured}`);
  const protocols = ['https:', new URL(configured).protocol];
  if (typeof jwksUri === 'string' && protocols.includes(URL.parse(jwksUri)?.protocol ?? ''))
    return { issuer, jwksUri };
  throw new Error(`${address} has no https address as jwks_uri: set TOKEN_JWKS_URI`);
}

/** Finds the metadata of an issuer. Throws the fault of the first address when none has a document. */
async function discover(issuer: string, signal: AbortSignal) {
  let first: unknown;
  for (const address of metadataAddresses(issuer)) {
    const document = await fetchJson(address, signal).catch((error: unknown) => void (first ??= error));
    if (document) return readMetadata(document, address, issuer);
  }
  throw new Error(`${(first as Error).message}: check TOKEN_ISSUER, or set TOKEN_JWKS_URI`, { cause: first });
}

/** Fetches the keys within the deadline. Throws an error whose message names the fault and the setting. */
async function fetchKeys(source: KeySource) {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const { issuer, jwksUri } = source;
  const metadata = jwksUri === undefined ? await discover(issuer, signal) : { issuer, jwksUri };
  const keySet = await fetchJson(metadata.jwksUri, signal);
  const keys: unknown[] = Array.isArray(keySet['keys']) ? keySet['keys'] : [];
  const count = keys.filter((key) => typeof (Object(key) as Document)['kty'] === 'string').length;
  // jose refuses the whole set for one member that is no object.
  if (count === 0 || !keys.every((key) => Object(key) === key))
    throw new Error(`the issuer has no key at ${metadata.jwksUri}: check its signing keys`);
  return { ...metadata, keySet, count };
}

/**
 * Checks that the issuer's keys can be had. Resolves with a sentence such as `issuer https://id.example.com: 2 keys
 * by discovery`. Rejects within 4 s with an error whose message names the fault and the setting.
 */
export async function checkIssuer(source: KeySource): Promise<string> {
  const { issuer, jwksUri, count } = await fetchKeys(source);
  const way = source.jwksUri === undefined ? 'by discovery' : `at ${jwksUri}`;
  return `issuer ${issuer}: ${count} ${count === 1 ? 'key' : 'keys'} ${way}`;
}

/**
 * Creates the issuer's key set, which is fetched on demand and used for `cacheMaxAge` milliseconds. After a failure,
 * requests within 1 s fail alike.
 */
export function createIssuerKeys(source: KeySource, cacheMaxAge: number) {
  let { issuer } = source;
  let fetchedAt = -Infinity;
  let failure = { at: -Infinity, error: new Error('not requested yet') };
  const fetchSet = async (): Promise<Response> => {
    if (performance.now() - failure.at < FETCH_PAUSE_MS) throw failure.error;
    try {
      const found = await fetchKeys(source);
      ({ issuer } = found);
      fetchedAt = performance.now();
      return Response.json(found.keySet);
    } catch (error) {
      failure = { at: performance.now(), error: error as Error };
      throw error;
    }
  };
  const options = { cacheMaxAge, cooldownDuration: FETCH_PAUSE_MS, [customFetch]: fetchSet };
  // jose has one request under way at a time. Its address is not used: `fetchSet` finds it.
  const keys = createRemoteJWKSet(new URL(source.issuer), options);
  return {
    find: keys,
    /** The exact value of `iss`, once keys were fetched. */
    issuer: (): string => issuer,
    /** How long ago the keys were fetched, milliseconds; Infinity when never. */
    ageMs: (): number => performance.now() - fetchedAt,
    /** Whether a key set was fetched within `cacheMaxAge`. Each has a key: `fetchKeys` refuses others. */
    isReady: (): boolean => keys.fresh,
  };
}
