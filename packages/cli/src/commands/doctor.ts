import { setTimeout as delay } from 'node:timers/promises';
import type { Client, DeliveryAttempt, Webhook } from '@webhooks/client';
import type { ArgumentsCamelCase, Argv, InferredOptionTypes } from 'yargs';
import { secretOf } from '../arguments.js';
import { checkAddress, fault, ok, type Check, checkTls } from '../doctor/check-connection.js';
import { checkReceiver } from '../doctor/check-receiver.js';
import { Failure, usage } from '../failure.js';
import { table, type Output } from '../output.js';
import { ATTEMPT_TIMEOUT_MS, VENDOR } from '../post.js';
import { logIn, offline, orNothing, POLL_MS, type GlobalOptions } from '../session.js';

function urlOf(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new Error(`${text} is no address; write https://host/path`);
  return url;
}

const OPTIONS = {
  url: { type: 'string', coerce: urlOf, demandOption: true, describe: 'https://host/path' },
  secret: { type: 'string', describe: 'The secret that it has; better WEBHOOKS_SECRET' },
  vendor: VENDOR,
  ref: { type: 'string', describe: 'Its webhook: let the service send it a test, too' },
  'name-server': { type: 'string', describe: 'ADDRESS[:PORT]; default: those of this machine' },
} as const;
type Arguments = ArgumentsCamelCase<InferredOptionTypes<typeof OPTIONS>> & GlobalOptions;

async function* examine({ url, nameServer, secret, vendor }: Arguments): AsyncGenerator<Check> {
  const typed = secret || process.env['WEBHOOKS_SECRET'];
  const given = typed ? secretOf(typed) : undefined;
  yield* checkAddress(url, nameServer);
  yield* checkTls(url);
  yield* checkReceiver(url, given, vendor);
}

function checkAttempt(
  { result, status = 0, error, code, cause = '' }: DeliveryAttempt,
  webhook: Webhook,
): Check {
  const found = `${result}: ${[status || '', error, code].join(' ').trim()}`;
  if (result === 'delivered') return ok('delivery', found);
  const isUnsigned = !webhook.hasSecret && [400, 401, 403].includes(status);
  const fix = isUnsigned ? `nothing is signed: webhooks rotate-secret ${webhook.ref}` : cause;
  return fault('delivery', found, fix || 'look at its log');
}

/** Returns why a test notification would show nothing; undefined when it shows how the endpoint takes deliveries. */
async function checkWebhook(client: Client, { ref, enabled }: Webhook): Promise<Check | undefined> {
  if (!enabled) return fault('delivery', 'the webhook is disabled', `webhooks enable ${ref}`);
  const health = await orNothing(client.health(ref));
  if (health?.state !== 'paused') return undefined;
  const fix = `see until when: webhooks show ${ref}`;
  return { check: 'delivery', state: 'warning', found: 'paused after failures, and nothing is sent', fix };
}

/** Lets the service send a test notification as it sends every delivery, and returns the result of its first attempt. */
async function checkDelivery({ url, profile }: Arguments, ref: string): Promise<Check> {
  const { client } = await logIn({ profile });
  const webhook = await client.get(ref);
  const { endpointUrl: own } = webhook;
  if (new URL(own).href !== url.href) throw usage(`${ref} is at ${own}`, 'examine that address');
  const obstacle = await checkWebhook(client, webhook);
  if (obstacle) return obstacle;
  const { timeoutMs = ATTEMPT_TIMEOUT_MS } = await client.policy(ref);
  const { deliveryId } = await client.sendTest(ref);
  // The time-out of the attempt, and the default one again for the way to the worker and into the log.
  const until = Date.now() + timeoutMs + ATTEMPT_TIMEOUT_MS;
  while (Date.now() < until) {
    const delivery = await orNothing(client.delivery(deliveryId));
    if (delivery?.attempts[0]) return checkAttempt(delivery.attempts[0], webhook);
    await delay(POLL_MS);
  }
  const fix = `look again: webhooks deliveries show ${deliveryId}`;
  return { check: 'delivery', state: 'warning', found: 'no attempt has ended yet', fix };
}

const LAST_CHECKS: readonly string[] = ['signature check', 'replay check'];

/** Whether a check ends the examination. Later checks need the earlier ones, except the last. */
const isFatal = ({ check, state }: Check): boolean => state === 'fault' && !LAST_CHECKS.includes(check);

/** After the service got a 2xx, a fault that this program finds is only a warning. */
function besideDelivery(check: Check): Check {
  if (!isFatal(check) || /^(status|redirect)/.test(check.found)) return check;
  return { ...check, state: 'warning', found: `${check.found}; the service delivers all the same` };
}

async function doctor({ show }: Output, args: Arguments): Promise<void> {
  const checks: Check[] = args.ref === undefined ? [] : [await checkDelivery(args, args.ref)];
  const isDelivered = checks[0]?.state === 'ok';
  for await (const check of examine(args)) {
    checks.push(isDelivered ? besideDelivery(check) : check);
    if (isFatal(check)) break;
  }
  for (const check of LAST_CHECKS.filter((name) => checks.every((made) => made.check !== name)))
    checks.push({ check, state: 'skipped', found: 'not examined, because of what is above' });
  const { origin, pathname } = args.url;
  show({ url: origin + pathname, checks }, table(checks, ['check', 'state', 'found', 'fix']));
  const first = checks.find(({ state }) => state === 'fault');
  if (first) throw new Failure('failed', `${origin}: ${first.found}`, first.fix, 'unfit-receiver');
}

export const addDoctor = (cli: Argv): Argv =>
  cli.command('doctor <url>', 'Examine a receiver with test notifications', OPTIONS, offline(doctor));
