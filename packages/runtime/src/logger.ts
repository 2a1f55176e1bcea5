import { inspect } from 'node:util';
import { createLogger as createWinston, format, transports } from 'winston';

export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Writes one JSON line to standard output for each call. Fields must not contain bodies, tokens, secrets or whole
 * URLs.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Returns the level whose lines and those of graver ones are written. Throws for any other word: no line would be written. */
export function parseLogLevel(text: string): string {
  if (!/^(debug|info|warn|error)$/.test(text)) throw new Error('must be debug, info, warn or error');
  return text;
}

const codeOf = (error: Error): LogFields => {
  const code: unknown = 'code' in error ? error.code : undefined;
  return typeof code === 'string' || typeof code === 'number' ? { code } : {};
};

const causeFields = (error: Error, depth: number): LogFields =>
  error.cause === undefined || depth >= 5 ? {} : { cause: describe(error.cause, depth + 1) };

function describe(error: unknown, depth: number): LogFields {
  if (!(error instanceof Error))
    return { error: (typeof error === 'string' ? error : inspect(error, { depth: 1 })).slice(0, 500) };
  return {
    error: `${error.name}: ${error.message}`.slice(0, 500),
    ...codeOf(error),
    ...causeFields(error, depth),
  };
}

/** Returns an error as fields of a log line: message, code, the chain of causes (at most five) and the stack. */
export function errorFields(error: unknown): LogFields {
  const stack = error instanceof Error ? error.stack?.slice(0, 4_000) : undefined;
  return { ...describe(error, 0), ...(stack === undefined ? {} : { stack }) };
}

/**
 * Creates a logger whose lines have `time` (RFC 3339), `level`, `service` and `message`, in this order, then the
 * fields.
 */
export function createLogger(service: string, level: string): Logger {
  return createWinston({
    level,
    format: format.printf(({ level: lineLevel, message, ...fields }) =>
      JSON.stringify({ time: new Date().toISOString(), level: lineLevel, service, message, ...fields }),
    ),
    transports: [new transports.Console()],
    exitOnError: false,
  });
}

/** Shortest time between two lines of one throttle, milliseconds. */
const REPORT_EVERY_MS = 10_000;

/** Writes a line. `count`: number of calls since the last line. */
type Report = (count: number) => void;

/**
 * Creates a throttle for a line that may occur thousands of times a second. Call the throttle each time: it reports
 * the first call at once, then at most once in 10 s. `now`: monotonic milliseconds; default `performance.now`.
 */
export function createLogThrottle(now = () => performance.now()): (report: Report) => void {
  let [count, reportedAt] = [0, -Infinity];
  return (report) => {
    count += 1;
    const at = now();
    if (at - reportedAt < REPORT_EVERY_MS) return;
    const reported = count;
    [count, reportedAt] = [0, at];
    report(reported);
  };
}

/** Creates one throttle for each word. The set of words must be bounded. */
export function createLogThrottles(): (word: string, report: Report) => void {
  const throttles = new Map<string, (report: Report) => void>();
  return (word, report) => {
    const throttle = throttles.get(word) ?? createLogThrottle();
    throttles.set(word, throttle);
    throttle(report);
  };
}
