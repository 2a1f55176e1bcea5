import type { IncomingMessage } from 'node:http';

/** One request as it came in. `body` holds exactly the bytes that were received. */
export interface Arrival {
  /** Counts from 1 in the order in which the bodies were complete. */
  readonly index: number;
  readonly method: string;
  /** Path and query as in the request line. */
  readonly path: string;
  readonly httpVersion: string;
  /** Names in lower case; a repeated header is joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Epoch milliseconds (with fraction) of the request line, and of the last byte of the body. */
  readonly startedAt: number;
  readonly receivedAt: number;
  /** Number of the TCP connection at this endpoint, from 1: equal numbers mean a reused connection. */
  readonly connection: number;
  /** `webhook-id`, else the body's `id`, else the empty string. */
  readonly id: string;
  /** How many arrivals carried this id so far, this one included (always 1 without an id). */
  readonly nth: number;
}

/** The line of the append-only file for one arrival; the body as text (base64 when it is not UTF-8). */
export interface ArrivalLine {
  readonly id: string;
  readonly nth: number;
  readonly method: string;
  readonly path: string;
  readonly receivedAt: number;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly bodyBase64?: string;
}

export function clockMs(): number {
  return performance.timeOrigin + performance.now();
}

export function flatHeaders(request: IncomingMessage): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headersDistinct)) {
    flat[name] = value?.join(', ') ?? '';
  }
  return flat;
}

export function arrivalId(headers: Readonly<Record<string, string>>, body: Buffer): string {
  const named = headers['webhook-id'];
  if (named !== undefined) return named;
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    return typeof parsed === 'object' && parsed !== null && 'id' in parsed && typeof parsed.id === 'string'
      ? parsed.id
      : '';
  } catch {
    return '';
  }
}

/** `status` is what the endpoint is about to answer; 0 means no ordinary answer (it hangs, cuts or drips). */
export function arrivalLine(arrival: Arrival, status: number): string {
  const text = arrival.body.toString('utf8');
  const line: ArrivalLine = {
    id: arrival.id,
    nth: arrival.nth,
    method: arrival.method,
    path: arrival.path,
    receivedAt: arrival.receivedAt,
    status,
    headers: arrival.headers,
    ...(Buffer.from(text, 'utf8').equals(arrival.body)
      ? { body: text }
      : { bodyBase64: arrival.body.toString('base64') }),
  };
  return `${JSON.stringify(line)}\n`;
}
