import { setTimeout as delay } from 'node:timers/promises';
import type { Arrival } from '@webhooks/testkit';
import { paint, readLags, showProgress, print } from '@webhooks/testkit/account';
import type { ProjectionLag, Print } from '@webhooks/testkit/account';

const LOOK_MS = 1_000;
/** A projection that is behind by less has read what came before the start. Load keeps it from reaching 0. */
const FRESH_SECONDS = 5;
/** Looks without a response until the waiting ends: a query-api that was killed is ready again in less than 30 s. */
const MAX_UNANSWERED = 30;

const isFresh = ({ records, seconds }: ProjectionLag): boolean =>
  records === 0 || (seconds > 0 && seconds < FRESH_SECONDS);

function describeLags(lags: readonly ProjectionLag[]): string {
  if (lags.length === 0) return 'query-api is not ready';
  const behind = lags.reduce((sum, { records }) => sum + records, 0);
  return `query-api reads what came before: ${behind.toLocaleString('en')} records behind`;
}

/** Waits until query-api has read what came before, and shows how much is left. Ends when it does not respond for 30 s. */
export async function untilProjected(queryAdmin: string | undefined): Promise<void> {
  for (let unanswered = 0; unanswered < MAX_UNANSWERED;) {
    const lags = await readLags(queryAdmin).catch(() => []);
    if (lags.length > 0 && lags.every(isFresh)) return;
    unanswered = lags.length === 0 ? unanswered + 1 : 0;
    showProgress(paint('yellow', `· ${describeLags(lags)}`));
    await delay(LOOK_MS);
  }
}

/** More lines in a second than a person reads. */
const LINES_A_SECOND = 20;
/** Characters of a body in a line: a notification of a Pix has about 230. */
const SHOWN_BODY = 300;

function describeArrival({ path, headers, body }: Arrival, status: number): string {
  const response = paint(status < 300 ? 'green' : 'red', String(status));
  const rest = body.byteLength > SHOWN_BODY ? '…' : '';
  return `→ ${response} POST ${path} attempt ${headers['webhook-attempt'] ?? '?'} ${body.toString('utf8', 0, SHOWN_BODY)}${rest}`;
}

/**
 * Shows each notification as a line, and beyond 20 in a second their number. After such a second, each second is one line until
 * fewer arrive. `later` calls back after a second.
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

/** A line of the worker's list. */
interface Unhealthy {
  readonly ref: string;
  readonly origin: string;
  readonly state: string;
  readonly lastFailure: string;
}

/** Prints a line when the breaker of an endpoint opens or closes, as the worker's `/endpoints` lists it. */
export function watchBreakers(workerAdmin: string): void {
  let open = new Map<string, Unhealthy>();
  const look = async (): Promise<void> => {
    const response = await fetch(`${workerAdmin}/endpoints`, {
      signal: AbortSignal.timeout(LOOK_MS),
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
  // While the worker is away its list cannot be read; the stack prints that it ended.
  setInterval(() => void look().catch(() => undefined), LOOK_MS).unref();
}
