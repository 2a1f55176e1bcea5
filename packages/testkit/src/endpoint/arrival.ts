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
  /** `webhook-id`, else the empty string. */
  readonly id: string;
  /** How many arrivals carried this id so far, this one included (always 1 without an id). */
  readonly nth: number;
}

/** The line of the append-only file for one arrival. */
export interface ArrivalLine extends Pick<Arrival, 'id' | 'path' | 'receivedAt' | 'headers'> {
  /** What the endpoint was about to reply; 0 means no ordinary response (it hangs, cuts or drips). */
  readonly status: number;
  /** As text. */
  readonly body: string;
}

export const clockMs = (): number => performance.timeOrigin + performance.now();

export function flatHeaders({ headersDistinct }: IncomingMessage): Record<string, string> {
  const flat = Object.entries(headersDistinct).map(([name, value]) => [name, value?.join(', ') ?? '']);
  return Object.fromEntries(flat) as Record<string, string>;
}

export function arrivalLine(arrival: Arrival, status: number): string {
  const { id, path, receivedAt, headers, body } = arrival;
  const line: ArrivalLine = { id, path, receivedAt, status, headers, body: body.toString('utf8') };
  return `${JSON.stringify(line)}\n`;
}
