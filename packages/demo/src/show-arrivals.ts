import type { Arrival } from '@webhooks/testkit';
import { paint } from '../../testkit/src/account/print.js';
import type { Print } from '../../testkit/src/account/print.js';

/** More lines in a second than a person reads. */
const LINES_A_SECOND = 20;
/** Characters of a body in a line: a notification of a Pix has about 230. */
const SHOWN_BODY = 300;

function describe({ path, headers, body }: Arrival, status: number): string {
  const answer = paint(status < 300 ? 'green' : 'red', String(status));
  const rest = body.byteLength > SHOWN_BODY ? '…' : '';
  return `→ ${answer} POST ${path} attempt ${headers['webhook-attempt'] ?? '?'} ${body.toString('utf8', 0, SHOWN_BODY)}${rest}`;
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
    if (count <= shown) print(describe(arrival, status));
  };
}
