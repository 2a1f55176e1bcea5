import type { Arrival } from '@webhooks/testkit';
import { paint } from './paint.js';
import type { Print } from './print.js';

/** More lines in a second than a person reads. */
const LINES_A_SECOND = 20;
const SECOND_MS = 1_000;
/** Characters of a body in a line. */
const SHOWN_BODY = 200;

function describe({ path, headers, body }: Arrival, status: number): string {
  const answer = paint(status < 300 ? 'green' : 'red', String(status));
  const rest = body.byteLength > SHOWN_BODY ? '…' : '';
  return `→ ${answer} POST ${path} attempt ${headers['webhook-attempt'] ?? '?'} ${body.toString('utf8', 0, SHOWN_BODY)}${rest}`;
}

/** Shows each notification as a line, and beyond 20 in a second their number. `later` calls back after so many milliseconds. */
export function createArrivalLines(
  print: Print,
  later: (work: () => void, ms: number) => void,
): (arrival: Arrival, status: number) => void {
  let count = 0;
  const endSecond = (): void => {
    if (count > LINES_A_SECOND) print(`→ … and ${count - LINES_A_SECOND} more notifications in this second`);
    count = 0;
  };
  return (arrival, status) => {
    if (count === 0) later(endSecond, SECOND_MS);
    count += 1;
    if (count <= LINES_A_SECOND) print(describe(arrival, status));
  };
}
