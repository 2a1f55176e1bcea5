import type { Arrival } from '@webhooks/testkit';
import { paint, readLags, showProgress, print, untilNone } from '@webhooks/testkit/account';
import type { ProjectionLag, Print } from '@webhooks/testkit/account';

const POLL_MS = 1_000;
/** A projection with less lag has read all records from before the start. Under load the lag does not reach 0. */
const FRESH_SECONDS = 5;

const isFresh = ({ records, seconds }: ProjectionLag): boolean =>
  records === 0 || (seconds > 0 && seconds < FRESH_SECONDS);

const describeLeft = (left: number): string =>
  left === Infinity ? 'query-api is not ready' : `query-api reads ${left.toLocaleString('en')} old records`;

/**
 * Waits until query-api has read all records from before the start, and shows how many are left. Ends when their number has not fallen for
 * two minutes.
 */
export function untilProjected(queryAdmin: string | undefined): Promise<void> {
  const countBehind = async (): Promise<number> => {
    const lags = await readLags(queryAdmin).catch(() => []);
    const behind = lags.reduce((sum, lag) => sum + (isFresh(lag) ? 0 : lag.records), 0);
    const left = lags.length === 0 ? Infinity : behind;
    if (left > 0) showProgress(paint('yellow', `· ${describeLeft(left)}`));
    return left;
  };
  return untilNone(countBehind, { everyMs: POLL_MS });
}

/** Maximum lines in a second. A person reads no more. */
const LINES_A_SECOND = 20;
/** Characters of a body in a line: a notification of a Pix has about 230. */
const SHOWN_BODY = 300;

function describeArrival({ path, headers, body }: Arrival, status: number): string {
  const response = paint(status < 300 ? 'green' : 'red', String(status));
  const rest = body.byteLength > SHOWN_BODY ? '…' : '';
  return `→ ${response} POST ${path} attempt ${headers['webhook-attempt'] ?? '?'} ${body.toString('utf8', 0, SHOWN_BODY)}${rest}`;
}

/**
 * Returns a function that prints a line for each notification, and beyond 20 in a second their number. After such a second, it prints one
 * line for each second until fewer arrive. `later` calls its argument after a second.
 */
export function createArrivalLines(
  print: Print,
  later: (work: () => void) => void = (work) => setTimeout(work, 1_000).unref(),
): (arrival: Arrival, status: number) => void {
  let count = 0;
  let shown = LINES_A_SECOND;
  const endSecond = (): void => {
    const hidden = (count - shown).toLocaleString('en');
    if (count > shown) print(`→ ${shown > 0 ? `… and ${hidden} more` : hidden} notifications in this second`);
    shown = count > LINES_A_SECOND ? 0 : LINES_A_SECOND;
    count = 0;
    if (shown === 0) later(endSecond);
  };
  return (arrival, status) => {
    if (count === 0 && shown > 0) later(endSecond);
    count += 1;
    if (count <= shown) print(describeArrival(arrival, status));
  };
}

/** An entry of the worker's `/endpoints`. */
interface Unhealthy {
  readonly ref: string;
  readonly origin: string;
  readonly state: string;
  readonly lastFailure: string;
}

/** Prints a line when the breaker of an endpoint opens or closes, as the worker's `/endpoints` lists it. */
export function watchBreakers(workerAdmin: string): void {
  let open = new Map<string, Unhealthy>();
  const poll = async (): Promise<void> => {
    const response = await fetch(`${workerAdmin}/endpoints`, {
      signal: AbortSignal.timeout(POLL_MS),
    });
    const { unhealthy } = (await response.json()) as { readonly unhealthy: readonly Unhealthy[] };
    const isOpen = ({ state }: Unhealthy): boolean => state !== 'closed';
    const now = new Map(unhealthy.filter(isOpen).map((one) => [one.ref, one]));
    for (const [ref, { origin, lastFailure }] of now)
      if (!open.has(ref))
        print(paint('yellow', `· breaker open: ${origin} (webhook ${ref}), last failure ${lastFailure}`));
    for (const [ref, { origin }] of open)
      if (!now.has(ref)) print(paint('green', `· breaker closed: ${origin} (webhook ${ref})`));
    open = now;
  };
  // While the worker is down its list cannot be read; the stack prints that it has ended.
  setInterval(() => void poll().catch(() => undefined), POLL_MS).unref();
}
