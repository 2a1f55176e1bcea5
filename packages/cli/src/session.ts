import { confirm } from '@clack/prompts';
import { createClient, ProblemError, type Client } from '@webhooks/client';
import { Failure, toLoginFailure, usage } from './failure.js';
import { card, createOutput, type Output } from './output.js';
import { readProfile, type Profile } from './profiles.js';

/** The client, the profile and the output of a command that calls the service. */
export interface Session extends Output {
  readonly client: Client;
  readonly profile: Profile;
}

/** Creates a client and requests a token at once, so that wrong credentials are distinguished from a refusal of the service. */
export async function connect(profile: Profile): Promise<Client> {
  const { url, ingestUrl = url, queryUrl = url, tokenEndpoint, clientId, clientSecret, scope } = profile;
  const credentials = { tokenEndpoint, clientId, clientSecret, ...(scope === undefined ? {} : { scope }) };
  // One retry, which bridges a restart, because a person waits.
  const client = createClient({ baseUrl: url, ingestUrl, queryUrl, credentials, maxRetries: 1 });
  try {
    await client.token();
  } catch (error) {
    throw toLoginFailure(error);
  }
  return client;
}

/** Resolves with undefined for a 404. */
export const orNothing = <T>(request: Promise<T>): Promise<T | undefined> =>
  request.catch((error: unknown) => {
    if (error instanceof ProblemError && error.problem.status === 404) return undefined;
    throw error;
  });

/** Interval at which progress is requested. A person reads no faster. */
export const POLL_MS = 1_000;

/** The options of every command. */
export interface GlobalOptions {
  readonly json?: unknown;
  readonly profile?: unknown;
}

/** Connects with the profile that the options name. */
export async function logIn({ profile: name }: GlobalOptions): Promise<Pick<Session, 'client' | 'profile'>> {
  const profile = readProfile(typeof name === 'string' ? name : undefined);
  return { profile, client: await connect(profile) };
}

/** Wraps a command that needs no login. */
export const offline =
  <A extends object>(work: (output: Output, args: A) => Promise<void> | void) =>
  async (args: A & GlobalOptions): Promise<void> =>
    work(createOutput(args.json === true), args);

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
  if ((await confirm({ message: question, initialValue: false, output: process.stderr })) !== true)
    throw new Failure('failed', 'nothing was changed');
}
