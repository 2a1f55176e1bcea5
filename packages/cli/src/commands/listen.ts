import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionError, ProblemError, type NotificationPage } from '@webhooks/client';
import type { Argv } from 'yargs';
import { EVENT_TYPES, type EventType } from '../events.js';
import { usage } from '../failure.js';
import { isLoopback } from '../loopback.js';
import { dim, paint } from '../output.js';
import { causeOf, post } from '../post.js';
import { present } from '../present.js';
import { online, type Session } from '../session.js';
import { makeSecret, signedHeaders, VENDOR } from '../sign.js';

/** A fault that passes: the cursor is kept, and the same page is asked for again. */
const passes = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof ProblemError && error.problem.status >= 500);

/** The longest that the service lets a pull wait. */
const WAIT_SECONDS = 25;
const RECONNECT_MS = 2_000; // a service that restarts is back within seconds

type Notification = NotificationPage['data'][number];

/** What comes after `cursor`, through outages. */
async function* follow(
  { client, note }: Session,
  cursor: string,
  eventType?: EventType,
): AsyncGenerator<Notification> {
  for (let after = cursor; ;) {
    try {
      const page = await client.notifications({ ...present({ eventType }), after, wait: WAIT_SECONDS });
      yield* page.data;
      after = page.nextCursor;
    } catch (error) {
      if (!passes(error)) throw error;
      note('no answer from the service; trying again, nothing is missed (Ctrl-C ends)');
      await delay(RECONNECT_MS);
    }
  }
}

interface Outcome {
  readonly status?: number;
  readonly durationMs?: number;
  readonly error?: string;
}

/** What the receiver made of it. On this machine a certificate proves nothing. */
const forward = (url: string, headers: Readonly<Record<string, string>>, body: string): Promise<Outcome> =>
  post(url, headers, body, false).catch((error: unknown) => ({ error: causeOf(error) }));

function outcomeText({ status, durationMs, error }: Outcome): string {
  if (status === undefined) return error === undefined ? '' : ` → ${paint('failed')} ${error}`;
  return ` → ${paint(status >= 200 && status < 300 ? 'delivered' : 'failed')} ${status} (${durationMs ?? 0} ms)`;
}

interface Arguments {
  readonly forward?: string | undefined;
  readonly eventType?: EventType | undefined;
  readonly secret?: string | undefined;
  readonly vendor: string;
  readonly count?: number | undefined;
}

async function listen(session: Session, args: Arguments): Promise<void> {
  const { forward: url, vendor, eventType, secret = makeSecret(), count = Infinity } = args;
  if (url !== undefined && !isLoopback(url))
    throw usage(`${url} is not on this machine`, 'forward to http://localhost:PORT, or: webhooks create');
  process.once('SIGINT', () => process.exit());
  const { nextCursor } = await session.client.notifications({ after: 'now' });
  session.show({ forward: url, secret }, `Ready. Signing secret of this session: ${secret}`);
  let seen = 0;
  for await (const { id, eventType: type, body } of follow(session, nextCursor, eventType)) {
    const headers = signedHeaders({ id, body, secret, vendor });
    const outcome = url === undefined ? {} : await forward(url, headers, body);
    const time = dim(new Date().toISOString().slice(11, 19));
    session.show(
      { id, body, headers, ...outcome },
      `${time} ${type} ${id}${outcomeText(outcome)}\n  ${dim(body)}`,
    );
    seen += 1;
    if (seen >= count) return;
  }
}

const OPTIONS = {
  forward: { type: 'string', describe: 'Post each event to this address of this machine' },
  'event-type': { choices: EVENT_TYPES, describe: 'Only these events' },
  secret: { type: 'string', describe: 'Sign with this secret (whsec_…); default: a new one' },
  vendor: VENDOR,
  count: { type: 'number', describe: 'End after so many events' },
} as const;

export const addListen = (cli: Argv): Argv =>
  cli.command('listen', 'Show events as they happen, and forward them', OPTIONS, online(listen));
