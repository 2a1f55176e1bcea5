import { isCancel, password, text } from '@clack/prompts';
import { ProblemError } from '@webhooks/client';
import type { Client, EventInput } from '@webhooks/client';
import type { Argv } from 'yargs';
import { Failure, usage } from '../failure.js';
import { card, type Output, present } from '../output.js';
import * as profiles from '../profiles.js';
import type { PartialProfile, Profile, ProfileField } from '../profiles.js';
import { connect, offline } from '../session.js';

const DESCRIPTIONS: Readonly<Record<ProfileField, string>> = {
  url: 'Address of the service, such as https://webhooks.example.com',
  tokenEndpoint: 'Token endpoint of the issuer, such as https://issuer.example.com/token',
  clientId: 'Client id',
  clientSecret: 'Client secret; better WEBHOOKS_CLIENT_SECRET, which other users do not see',
  ingestUrl: 'Address of ingest, where it has one of its own',
  queryUrl: 'Address of query-api, where it has one of its own',
  scope: 'Scopes, separated by spaces',
  audience: 'Audience, where the issuer needs one',
  secret: 'Secret that listen signs with (whsec_…); default: it makes one',
};

const OPTIONS = Object.fromEntries(
  profiles.FIELDS.map((field) => [
    profiles.optionOf(field).slice(2),
    { type: 'string', requiresArg: true, describe: DESCRIPTIONS[field] } as const,
  ]),
);

async function prompt(field: ProfileField): Promise<string> {
  const prompted = { message: DESCRIPTIONS[field], output: process.stderr };
  const typed = field === 'clientSecret' ? await password(prompted) : await text(prompted);
  if (isCancel(typed)) throw new Failure('failed', 'nothing was saved');
  return profiles.parseField(field, typed);
}

/** Prompts for what is missing. Without a terminal it throws, and names the missing options. */
async function complete(given: PartialProfile): Promise<Profile> {
  const missing = profiles.missingOf(given);
  if (missing.length > 0 && !process.stdin.isTTY)
    throw usage(`missing: ${missing.map(profiles.optionOf).join(', ')}`, 'pass them, or use a terminal');
  const typed: Record<string, string | undefined> = { ...given };
  for (const field of missing) typed[field] = await prompt(field);
  if (!profiles.isWhole(typed)) throw usage('a value is missing', 'run it again');
  return typed;
}

const PROBE_MS = 3_000; // a service that is there responds at once
const TIMEOUT = { timeoutMs: PROBE_MS };

/** A call of each address that changes nothing: an event without content is refused. */
const PROBES: readonly (readonly [ProfileField, (client: Client) => Promise<unknown>])[] = [
  ['url', (client) => client.list({ limit: 1 }, TIMEOUT)],
  ['ingestUrl', (client) => client.postEvent({} as EventInput, TIMEOUT)],
  ['queryUrl', (client) => client.deliveries({ limit: 1 }, TIMEOUT)],
];

/** Whether the service responded: with a success, or with a problem of its own that is no 404. Throws when it does not take the token. */
const serves = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => true,
    (error: unknown) => {
      if (error instanceof ProblemError && error.code === 'invalid-token') throw error;
      return error instanceof ProblemError && error.status !== 404 && error.code !== 'unknown';
    },
  );

/** Returns the profile with the addresses that it lacks: at a terminal it prompts for each, else it warns. */
async function probe(client: Client, profile: Profile, note: Output['note']): Promise<Profile> {
  let found = profile;
  for (const [field, call] of PROBES) {
    const { [field]: own, url } = profile;
    if (await serves(call(client))) continue;
    if (own === undefined && process.stdin.isTTY)
      found = { ...found, [field]: (await prompt(field)) || undefined };
    else
      note(
        `Warning: nothing of ours responds at ${own ?? url}: webhooks login ${profiles.optionOf(field)} URL`,
      );
  }
  return found;
}

async function logIn({ show, note }: Output, args: Readonly<Record<string, unknown>>): Promise<void> {
  const given: Record<string, string> = {};
  for (const [field, value] of Object.entries({ ...profiles.fromEnvironment(), ...present(args) }))
    if (field in DESCRIPTIONS && typeof value === 'string') given[field] = profiles.parseField(field, value);
  const completed = await complete(given);
  const client = await connect(completed);
  const [, claims = ''] = (await client.token()).split('.');
  const [, tenant] = /"tenant_id":"([^"]+)"/.exec(Buffer.from(claims, 'base64url').toString()) ?? [];
  const profile = await probe(client, completed, note);
  const name = profiles.profileName(args['profile']);
  profiles.saveProfile(name, profile);
  const { url, clientId } = profile;
  const result = { profile: name, url, clientId, tenant, file: profiles.profileFile() };
  show(result, card(result));
  note(`Profile ${name} is current now; others: --profile, WEBHOOKS_PROFILE. Next: webhooks listen`);
}

export const addLogin = (cli: Argv): Argv =>
  cli.command('login', 'Save credentials, and use them from now on', OPTIONS, offline(logIn));
