import { makeTestEvent } from '../events.js';
import { describeError, post, type Response, makeSecret, signedHeaders } from '../post.js';
import { fault, ok, type Check } from './check-connection.js';

/** Builds a test notification: a made-up payment. A notification begins with its id. */
function testNotification(): { id: string; body: string } {
  const { id, ...event } = makeTestEvent('PIX_DYNAMIC_PAID');
  return { id, body: JSON.stringify({ id, ...event }) };
}

const statusClass = ({ status }: Response): number => Math.floor(status / 100);

/** Statuses by which a receiver accepts or refuses a notification. */
const VERDICT = /^(2..|400|401|403|422)$/;

/** Returns the fault of any other response: a redirect, an error of the receiver, or an unknown path. */
function checkStatus(response: Response): Check | undefined {
  const { status, location } = response;
  if (VERDICT.test(String(status))) return undefined;
  const found = location === undefined ? `status ${status}` : `redirect (${status}) to ${location}`;
  return fault('response', found, 'respond with 2xx to a POST at this path');
}

const WORK_LATER = 'store the event, respond, then do the work';
/** A fifth of the time that a delivery has: a slower receiver fails under load. */
const SLOW_MS = 2_000;

function checkTime({ status, durationMs }: Response): Check {
  const found = `${status} after ${durationMs} ms`;
  if (durationMs <= SLOW_MS) return ok('response', found);
  return { check: 'response', state: 'warning', found: `slow: ${found}`, fix: WORK_LATER };
}

function checkRefusal(check: string, response: Response, [accepted, fix]: readonly [string, string]): Check {
  const { status } = response;
  if (statusClass(response) === 2) return fault(check, `${accepted} (${status})`, fix);
  const isRefusal = VERDICT.test(String(status));
  return isRefusal ? ok(check, `refused (${status})`) : fault(check, `status ${status}`, 'refuse with 401');
}

const CHECK_SECRET = 'check its secret and its clock, and that it verifies the raw body';
const UNSIGNED = ['no signature check', 'verify the signature, and respond with 401'] as const;
const REPLAYED = ['a replayed notification is accepted', 'refuse what is older than 5 minutes'] as const;

function checkFailure(code: string): Check {
  if (/CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE|BAD_CERTIFICATE/.test(code))
    return fault('client certificate', 'required', 'let the server trust the operator’s client certificate');
  if (code === 'TIMEOUT') return fault('response', 'slow: nothing within 10 s', WORK_LATER);
  return fault('response', `${code} (SOCKET)`, 'look at the log of the receiver, and of the proxy before it');
}

/** Twice the maximum age of a timestamp in Standard Webhooks, five minutes. */
const REPLAY_SECONDS = 600;

/** Posts test notifications, and nothing else. Without the receiver's secret only a wrong signature can be tried. */
export async function* checkReceiver(
  url: URL,
  secret: string | undefined,
  vendor: string,
): AsyncGenerator<Check> {
  const send = (signedWith: string, ageSeconds = 0): Promise<Response> => {
    const test = testNotification();
    const headers = signedHeaders({ ...test, secret: signedWith, vendor, ageSeconds });
    return post(url.href, headers, test.body, true);
  };
  try {
    const first = await send(secret ?? makeSecret());
    yield checkStatus(first) ?? checkTime(first);
    if (secret === undefined) {
      const refusal = checkRefusal('signature check', first, UNSIGNED);
      const fix = 'it may refuse everything: use --secret';
      yield refusal.state === 'ok' ? { ...refusal, state: 'warning', fix } : refusal;
      yield { check: 'replay check', state: 'skipped', found: 'use --secret, or set WEBHOOKS_SECRET' };
    } else if (statusClass(first) === 4) {
      yield fault('signature check', 'a valid signature is refused', CHECK_SECRET);
    } else {
      yield checkRefusal('signature check', await send(makeSecret()), UNSIGNED);
      yield checkRefusal('replay check', await send(secret, REPLAY_SECONDS), REPLAYED);
    }
  } catch (error) {
    yield checkFailure(describeError(error));
  }
}
