import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionError, ProblemError, type Client, type NotificationFilter } from '@webhooks/client';
import type { ArgumentsCamelCase, Argv, InferredOptionTypes } from 'yargs';
import { EVENT_TYPES, isLoopback } from '../arguments.js';
import { usage } from '../failure.js';
import { dim, paint, plain, present } from '../output.js';
import { describeError, post, type Response, makeSecret, signedHeaders, VENDOR } from '../post.js';
import { online, type Session } from '../session.js';

/** Whether an error is transient, so that the same page is requested again. */
const isTransient = (error: unknown): boolean =>
  error instanceof ProblemError ? /^(429|5..)$/.test(String(error.status)) : error instanceof ConnectionError;

/** Longest wait for a pull that the service allows, in seconds. */
const WAIT_SECONDS = 25;
const RECONNECT_MS = 2_000; // a service that restarts is ready again within seconds

/** Yields the notifications after the cursor, and continues after outages. */
async function* follow(client: Client, first: NotificationFilter, onOutage: () => unknown) {
  for (let filter = first, isOut = false; ;) {
    try {
      const { data, nextCursor } = await client.notifications(filter);
      isOut = false;
      yield* data;
      filter = { ...filter, after: nextCursor };
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (!isOut) onOutage();
      isOut = true;
      await delay(RECONNECT_MS);
    }
  }
}

const timeText = (): string => new Date().toISOString().slice(11, 19);

type Outcome = Partial<Response> & { readonly error?: string };

/** Posts to the receiver and returns its response. Certificates are not checked, because the receiver is on this machine. */
async function forward(
  url: string | undefined,
  headers: Record<string, string>,
  body: string,
): Promise<Outcome> {
  if (url === undefined) return {};
  return post(url, headers, body, false).catch((error: unknown) => ({ error: describeError(error) }));
}

function outcomeText({ status, durationMs, error }: Outcome): string {
  if (status === undefined) return error === undefined ? '' : ` → ${paint('failed')} ${error}`;
  return ` → ${paint(status >= 200 && status < 300 ? 'delivered' : 'failed')} ${status} (${durationMs ?? 0} ms)`;
}

const OPTIONS = {
  forward: { type: 'string', describe: 'Post each event to this address of this machine' },
  'event-type': { choices: EVENT_TYPES, describe: 'Only these events' },
  secret: { type: 'string', describe: 'Sign with this secret (whsec_…); default: a new one' },
  vendor: VENDOR,
  count: { type: 'number', describe: 'End after this many events' },
  repeat: { type: 'number', default: 1, describe: 'Forward each event this many times, as repeats do' },
} as const;

type Arguments = ArgumentsCamelCase<InferredOptionTypes<typeof OPTIONS>>;

async function listen({ client, show, note }: Session, args: Arguments): Promise<void> {
  const { forward: url, vendor, eventType, secret = makeSecret(), count = Infinity, repeat } = args;
  if (url !== undefined && !isLoopback(url))
    throw usage(`${url} is not on this machine`, 'forward to http://localhost:PORT, or: webhooks create');
  process.once('SIGINT', () => process.exit());
  process.stdout.once('error', () => process.exit());
  const { nextCursor: after } = await client.notifications({ after: 'now' });
  show({ forward: url, secret }, `Ready. Signing secret of this session: ${secret}`);
  const filter = { ...present({ eventType }), after, wait: WAIT_SECONDS };
  const onOutage = (): unknown =>
    note(`${timeText()} the service is unavailable or busy; retrying, nothing is missed (Ctrl-C ends)`);
  let seen = 0;
  for await (const { id, eventType: type, body } of follow(client, filter, onOutage)) {
    for (let attempt = 1; attempt <= repeat; attempt += 1) {
      const headers = { ...signedHeaders({ id, body, secret, vendor }), 'webhook-attempt': String(attempt) };
      const outcome = await forward(url, headers, body);
      const head = `${dim(timeText())} ${plain(`${type} ${id}`)}`;
      show({ id, body, headers, ...outcome }, `${head}${outcomeText(outcome)}\n  ${dim(plain(body))}`);
    }
    seen += 1;
    if (seen >= count) return;
  }
}

export const addListen = (cli: Argv): Argv =>
  cli.command('listen', 'Show events as they happen, and forward them', OPTIONS, online(listen));
