import type { IncomingMessage } from 'node:http';
import { invalidRequest } from './app-error.js';
import { parseStrictJson, type Check, type JsonFault, type StrictJson } from '@webhooks/contracts';
import type { ApiRequest } from './operation.js';

const tooLarge = (maxBytes: number) =>
  invalidRequest([{ property: '', reason: `must not be larger than ${maxBytes} bytes` }]);

const tooSmall = () =>
  invalidRequest([{ property: '', reason: `must come in chunks of ${MIN_CHUNK_BYTES} bytes or more` }]);

/**
 * Throws 422 when the headers show that the body cannot be accepted: it is compressed, has an unknown coding or is too
 * large. The size of a compressed body is known only after decompression.
 */
export function checkBodyHeaders({ headers }: IncomingMessage, maxBytes: number): void {
  // Codings are compared without regard to case (RFC 9110 §8.4.1).
  const encoding = headers['content-encoding']?.toLowerCase();
  if (encoding !== undefined && encoding !== 'identity') {
    throw invalidRequest([{ property: 'Content-Encoding', reason: 'must be identity' }]);
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw invalidRequest([{ property: 'Transfer-Encoding', reason: 'must be chunked' }]);
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

const SINGLE_HEADERS: ReadonlySet<string> = new Set(['authorization', 'host', 'content-type']);

/** Throws 422 for a repeated header. Node uses the first one, and a proxy may have used another (RFC 9110 §5.3). */
export function refuseRepeatedHeaders({ rawHeaders }: IncomingMessage): void {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (!SINGLE_HEADERS.has(name)) continue;
    if (seen.has(name)) throw invalidRequest([{ property: name, reason: 'must appear once' }]);
    seen.add(name);
  }
}

/** Throws 422 for a body that the operation would ignore: its sender would believe that it had an effect. */
export function refuseBody({ method, headers }: IncomingMessage): void {
  if (method === 'GET' || method === 'HEAD') return;
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)
    throw invalidRequest([{ property: '', reason: 'must have no body: this operation takes none' }]);
}

/**
 * Chunks cost CPU time: 1 MiB in chunks of one byte takes a second. The first 1,000 chunks may be small. All later ones
 * must have at least 512 bytes on average.
 */
const FREE_CHUNKS = 1_000;
const MIN_CHUNK_BYTES = 512;

/**
 * The connection ended before the body was complete. There is no caller to respond to, and the service has no fault.
 */
export class CallerGone extends Error {
  constructor(cause: unknown) {
    super('the caller hung up before the end of its body', { cause });
    this.name = 'CallerGone';
  }
}

/**
 * Reads a body of at most `maxBytes`. Rejects with 422 as soon as the body is larger or comes in tiny chunks. Rejects with
 * the error that `take` throws, and with `CallerGone` when the connection ends first.
 *
 * Chunks are copied into one buffer that doubles, so many chunks need no more memory than few. `take` is called for the
 * added bytes before the buffer grows. Events are used, because `for await` takes a tenth of the time of a small request.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  take: (bytes: number) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const bound = Number(request.headers['content-length'] ?? maxBytes);
    let body = Buffer.alloc(0);
    let size = 0;
    let chunks = 0;
    const gone = (error: unknown): void => reject(new CallerGone(error));
    const closed = (): void => {
      if (!request.readableEnded) gone(undefined);
    };
    const grow = (needed: number): void => {
      if (needed > maxBytes) throw tooLarge(maxBytes);
      const capacity = Math.min(bound, Math.max(needed, 2 * body.byteLength));
      take(capacity - body.byteLength);
      const larger = Buffer.allocUnsafeSlow(capacity);
      body.copy(larger, 0, 0, size);
      body = larger;
    };
    const onData = (chunk: Buffer): void => {
      try {
        chunks += 1;
        if (size + chunk.byteLength < (chunks - FREE_CHUNKS) * MIN_CHUNK_BYTES) throw tooSmall();
        if (size + chunk.byteLength > body.byteLength) grow(size + chunk.byteLength);
        size += chunk.copy(body, size);
      } catch (error) {
        // Later chunks are discarded: the response closes the connection.
        request.off('data', onData).resume();
        reject(error instanceof Error ? error : new Error('the body cannot be stored', { cause: error }));
      }
    };
    request
      .on('data', onData)
      .once('end', () => resolve(body.subarray(0, size)))
      .once('error', gone)
      .once('close', closed);
    if (request.destroyed) gone(undefined);
  });
}

const FAULTS: Readonly<Record<JsonFault, string>> = {
  'not-utf8': 'must be UTF-8',
  'not-json': 'must be JSON',
  'too-deep': 'is nested too deeply',
  'too-many-values': 'contains too many values',
  'duplicate-key': 'repeats a member name',
  'forbidden-character': 'contains a NUL or a lone surrogate',
};

/**
 * Returns the media type of a body in lower case, without parameters; undefined without the header. Throws 422 for a
 * charset other than UTF-8.
 */
export function mediaTypeOf(request: ApiRequest): string | undefined {
  const [type, ...parameters] = request.header('content-type')?.toLowerCase().split(';') ?? [];
  if (parameters.some((parameter) => /^\s*charset\s*=(?!\s*"?utf-8"?\s*$)/.test(parameter)))
    throw invalidRequest([{ property: 'Content-Type', reason: 'must have no charset other than UTF-8' }]);
  return type?.trim();
}

/** Returns why a text is not acceptable JSON, in words for the caller. */
export const jsonFault = ({ fault, at }: Extract<StrictJson, { ok: false }>): string =>
  at === undefined ? FAULTS[fault] : `${FAULTS[fault]}; the fault is at ${at}`;

/**
 * Most JSON values of one body: 1,000 events of 64 values, twice as many as an event has. Each value costs CPU time.
 */
export const MAX_BODY_VALUES = 64_000;

/** Parses JSON strictly. Throws 422 with the fault. */
export function parseJsonText(text: string | Uint8Array): unknown {
  const parsed = parseStrictJson(text, { maxValues: MAX_BODY_VALUES });
  if (parsed.ok) return parsed.value;
  throw invalidRequest([{ property: '', reason: jsonFault(parsed) }]);
}

/** Reads a JSON body and checks it. Throws 422 for another content type, for malformed JSON, and for violations. */
export function readJson<T>(request: ApiRequest, check: Check<T>): T {
  if (mediaTypeOf(request) !== 'application/json') {
    throw invalidRequest([{ property: 'Content-Type', reason: 'must be application/json' }]);
  }
  const result = check(parseJsonText(request.body));
  if (result.ok) return result.value;
  throw invalidRequest(result.violations);
}
