import { confirm } from '@clack/prompts';
import { setTimeout as delay } from 'node:timers/promises';
import {
  createClient,
  ConnectionError,
  IssuerError,
  ProblemError,
  UnexpectedResponseError,
} from '@webhooks/client';
import type { Client } from '@webhooks/client';
import { Failure, toFailure, usage } from './failure.js';
import { card, createOutput, plain, present, type Output } from './output.js';
import { readProfile, type Profile } from './profiles.js';
import { localTime, zone } from './times.js';

/** The client, the profile and the output of a command that calls the service. */
export interface Session extends Output {
  readonly client: Client;
  readonly profile: Profile;
}

/** Creates a client and requests a token at once, so that wrong credentials are distinguished from a refusal of the service. */
export async function connect(profile: Profile): Promise<Client> {
  const { url, ingestUrl = url, queryUrl = url, tokenEndpoint, clientId, clientSecret } = profile;
  const { scope, audience } = profile;
  const parameters = present({ audience });
  const credentials = { tokenEndpoint, clientId, clientSecret, parameters, ...present({ scope }) };
  // One retry, which bridges a restart, and 10 s at most, because a person waits.
  const retries = { maxRetries: 1, maxWaitMs: 10_000 };
  const client = createClient({ baseUrl: url, ingestUrl, queryUrl, credentials, ...retries });
  try {
    await client.token();
  } catch (error) {
    throw toFailure(error, 'the token issuer ');
  }
  return client;
}

/** Resolves with undefined for a 404. */
export const orNothing = <T>(request: Promise<T>): Promise<T | undefined> =>
  request.catch((error: unknown) => {
    if (error instanceof ProblemError && error.problem.status === 404) return undefined;
    throw error;
  });

/** The codes of problems that no repeat of a request changes. Every other response may be a proxy's. */
const ENDING = /^(invalid-token|insufficient-scope|forbidden-tenant|cursor-expired)$/;
/** The same for a canary: a refused token is what it is there to see, such as a service whose clock is wrong. */
export const ENDING_CANARY = /^(insufficient-scope|forbidden-tenant)$/;
/** The words by which an issuer refuses (RFC 6749 §5.2), and Auth0's. Every other response may be a proxy's. */
const REFUSALS =
  /^((invalid|unauthorized)_(request|client|grant|scope)|unsupported_grant_type|access_denied)$/;
function isOutage(error: unknown, ending: RegExp): boolean {
  if (error instanceof IssuerError) return !REFUSALS.test(error.code);
  if (error instanceof ProblemError) return !ending.test(error.code);
  return error instanceof ConnectionError || error instanceof UnexpectedResponseError;
}

const RETRY_MS = 2_000; // a service that restarts is ready again within seconds

/** Repeats a request until the service responds to it, without an end. `onOutage` is called with the first failure of a row. */
export async function untilServed<T>(
  request: () => Promise<T>,
  onOutage: (text: string) => unknown,
  ending = ENDING,
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await request();
    } catch (error) {
      if (!isOutage(error, ending)) throw error;
      const { message } = toFailure(error);
      if (failures === 0) onOutage(plain(`${message}; retrying, nothing is missed (Ctrl-C ends)`));
      await delay(RETRY_MS);
    }
  }
}

/** Interval at which progress is requested. A person reads no faster. */
export const POLL_MS = 1_000;

/** The options of every command. */
export interface GlobalOptions {
  readonly json?: unknown;
  readonly profile?: unknown;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** Connects with the profile that the options name. */
export async function logIn({ profile: name }: GlobalOptions): Promise<Pick<Session, 'client' | 'profile'>> {
  const profile = readProfile(name);
  return { profile, client: await connect(profile) };
}

/** Returns the times that were typed, with the zone in which they were read. */
const rangeText = ({ from, to }: GlobalOptions): string =>
  Object.entries({ from, to })
    .filter((option): option is [string, string] => typeof option[1] === 'string')
    .map(([name, time]) => `${name} ${localTime(new Date(time))} (${zone()})`)
    .join(' ');

/** Wraps a command that needs no login. */
export const offline =
  <A extends object>(work: (output: Output, args: A) => Promise<void> | void) =>
  async (args: A & GlobalOptions): Promise<void> => {
    const output = createOutput(args.json === true);
    output.note(rangeText(args));
    await work(output, args);
  };

/** Wraps a command that calls the service. */
export const online = <A extends object>(work: (session: Session, args: A) => Promise<void>) =>
  offline<A & GlobalOptions>(async (output, args) => work({ ...output, ...(await logIn(args)) }, args));

/** Wraps a command that makes one call and shows its result. `next` returns the note after it. */
export const showing = <A extends object, T extends object>(
  call: (client: Client, args: A) => Promise<T>,
  text: (value: T) => string = card,
  next?: (value: T, args: A) => string,
) =>
  online<A>(async ({ client, show, note }, args) => {
    const value = await call(client, args);
    show(value, text(value));
    if (next) note(next(value, args));
  });

/** Resolves when the user agrees, or has said `--yes`. Throws otherwise, and without a terminal. */
export async function requireConfirmation(question: string, yes: boolean): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY) throw usage('nothing was changed', 'use --yes, because there is no terminal');
  if ((await confirm({ message: plain(question), initialValue: false, output: process.stderr })) !== true)
    throw new Failure('failed', 'nothing was changed');
}
