import type { Client, NotificationFilter } from '@webhooks/client';
import type { ArgumentsCamelCase, Argv, InferredOptionTypes } from 'yargs';
import { EVENT_TYPES, isHere, receiverOf, secretOf } from '../arguments.js';
import { describeFault } from '../failure.js';
import { dim, paint, plain, present } from '../output.js';
import { describeError, post, type Response, makeSecret, signedHeaders, VENDOR } from '../post.js';
import { keepSecret, profileName } from '../profiles.js';
import { online, untilServed, type GlobalOptions, type Session } from '../session.js';
import { localTime } from '../times.js';

/** Longest wait for a pull that the service allows, in seconds. */
const WAIT_SECONDS = 25;

/** Yields the notifications after the cursor, and continues after outages. */
async function* follow(client: Client, first: NotificationFilter, onOutage: (text: string) => unknown) {
  for (let filter = first; ;) {
    const { data, nextCursor } = await untilServed(() => client.notifications(filter), onOutage);
    yield* data;
    filter = { ...filter, after: nextCursor };
  }
}

const timeText = (): string => localTime(new Date()).slice(11);

type Outcome = Partial<Response> & { readonly error?: string };

/** Posts to the receiver and returns its response. Of this machine's, certificates are not checked. */
async function forward(to: URL | undefined, headers: Record<string, string>, body: string): Promise<Outcome> {
  const failed = (error: unknown): Outcome => ({ error: describeError(error) });
  return to === undefined ? {} : post(to.href, headers, body, !isHere(to)).catch(failed);
}

function outcomeText({ status, durationMs, error }: Outcome): string {
  if (status === undefined) return error === undefined ? '' : ` → ${paint('failed')} ${error}`;
  return ` → ${paint(status >= 200 && status < 300 ? 'delivered' : 'failed')} ${status} (${durationMs ?? 0} ms)`;
}

const OPTIONS = {
  forward: { type: 'string', coerce: receiverOf, describe: 'Post each event to 3000, localhost:3000/pix, …' },
  'allow-remote': { type: 'boolean', default: false, describe: 'Forward to another machine' },
  'event-type': { choices: EVENT_TYPES, describe: 'Only these events' },
  secret: { type: 'string', coerce: secretOf, describe: 'Sign with this whsec_…; default: as the last time' },
  vendor: VENDOR,
  count: { type: 'number', describe: 'End after this many events' },
  repeat: { type: 'number', default: 1, describe: 'Forward each event this many times, as repeats do' },
} as const;

type Arguments = ArgumentsCamelCase<InferredOptionTypes<typeof OPTIONS>> & GlobalOptions;

/** Returns the secret of this listener. One that the profile does not have is kept, so that the receiver's need not change. */
function secretFor({ profile, note }: Session, { secret: given, profile: name }: Arguments): string {
  const secret = secretOf(given ?? profile.secret ?? makeSecret());
  if (secret === profile.secret) return secret;
  try {
    keepSecret(profileName(name), secret);
  } catch (error) {
    note(`Warning: the secret is for this session only: ${describeFault(error)}`);
  }
  return secret;
}

async function listen(session: Session, args: Arguments): Promise<void> {
  const { client, show, note } = session;
  const { forward: to, vendor, eventType, count = Infinity, repeat } = args;
  process.once('SIGINT', () => process.exit());
  process.stdout.once('error', () => process.exit());
  const { nextCursor: after } = await client.notifications({ after: 'now' });
  const secret = secretFor(session, args);
  show({ forward: to?.href, secret }, `Ready. Signing secret: ${secret}`);
  const filter = { ...present({ eventType }), after, wait: WAIT_SECONDS };
  const onOutage = (text: string): unknown => note(`${timeText()} ${text}`);
  let seen = 0;
  for await (const { id, eventType: type, body } of follow(client, filter, onOutage)) {
    for (let attempt = 1; attempt <= repeat; attempt += 1) {
      const headers = { ...signedHeaders({ id, body, secret, vendor }), 'webhook-attempt': String(attempt) };
      const outcome = await forward(to, headers, body);
      const head = `${dim(timeText())} ${plain(`${type} ${id}`)}`;
      show({ id, body, headers, ...outcome }, `${head}${outcomeText(outcome)}\n  ${dim(plain(body))}`);
    }
    seen += 1;
    if (seen >= count) return;
  }
}

export const addListen = (cli: Argv): Argv =>
  cli.command(
    'listen',
    'Show events as they happen, and forward them',
    (own) =>
      own.options(OPTIONS).check(({ forward: to, 'allow-remote': isAllowed }) => {
        const isSafe = to === undefined || isHere(to) || isAllowed;
        return isSafe || `${to.href} is not on this machine: use --allow-remote, or webhooks create`;
      }),
    online(listen),
  );
