import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isHere, readText } from './arguments.js';
import { Failure, usage } from './failure.js';
import { present } from './output.js';

const REQUIRED = ['url', 'tokenEndpoint', 'clientId', 'clientSecret'] as const;
/**
 * `url`: address of the service, or of config-api. `ingestUrl`, `queryUrl`: set when that service has another address. `secret`: what
 * `listen` signs with.
 */
export const FIELDS = [...REQUIRED, 'ingestUrl', 'queryUrl', 'scope', 'audience', 'secret'] as const;
export type ProfileField = (typeof FIELDS)[number];
export type PartialProfile = { readonly [field in ProfileField]?: string | undefined };
/** The addresses of the services and of their token issuer, and one client's credentials. */
export type Profile = PartialProfile & { readonly [field in (typeof REQUIRED)[number]]: string };

export const missingOf = (fields: PartialProfile): readonly ProfileField[] =>
  REQUIRED.filter((field) => fields[field] === undefined);
export const isWhole = (fields: PartialProfile): fields is Profile => missingOf(fields).length === 0;

/** Returns the option of a field, such as `--client-id` for `clientId`. */
export const optionOf = (field: ProfileField): string =>
  `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
const variableOf = (field: ProfileField): string =>
  optionOf(field).replace('--', 'webhooks_').replaceAll('-', '_').toUpperCase();

/** Fields from the environment, such as `WEBHOOKS_CLIENT_ID`. They win over the file; an empty one is ignored. */
export const fromEnvironment = (): PartialProfile => {
  const given = (field: ProfileField) => parseField(field, process.env[variableOf(field)] ?? '') || undefined;
  return present(Object.fromEntries(FIELDS.map((field) => [field, given(field)])));
};

/** A user id that the machine has no entry for has no home, unless `HOME` names one; its home is then `/`, as in a container. */
function home(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

/** Where profiles are kept; of a link to a file, that file. */
export function profileFile(): string {
  const folder = process.env['XDG_CONFIG_HOME'] || join(home(), '.config');
  const file = join(folder, 'webhooks', 'profiles.json');
  return existsSync(file) ? realpathSync(file) : file;
}

/**
 * Returns the value of a field as it is stored: an address without the API's path, which the client adds. Throws for an address without
 * https, because secrets are sent there, unless it is of this machine.
 */
export function parseField(field: string, text: string): string {
  if (text === '' || !/url$|endpoint$/i.test(field)) return text;
  const { protocol, username, password } = URL.parse(text) ?? {};
  if (username || password) throw usage(`${field} must have no user and no password`);
  if (protocol !== 'https:' && !isHere(text))
    throw usage(`${field} must begin with https://, got ${text}`, 'http:// is for this machine only');
  return text.replace(/\/integration\/v1\/?$/, '');
}

interface Stored {
  readonly current?: string;
  readonly profiles?: Readonly<Record<string, PartialProfile>>;
}

function load(): Stored {
  const file = profileFile();
  if (!existsSync(file)) return {};
  const text = readText(file);
  try {
    return (JSON.parse(text) as Stored | null) ?? {};
  } catch {
    throw usage(`${file} cannot be read as JSON`, 'remove it, and log in again: webhooks login');
  }
}

/** Writes the file atomically, readable by its owner only. */
function store(stored: Stored): void {
  const file = profileFile();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const written = `${file}.${randomUUID()}`; // an existing file would keep its mode
  writeFileSync(written, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(written, file);
}

/** Stores a profile, which becomes the current one. The secret of its listener stays, unless it has another. */
export function saveProfile(name: string, profile: Profile): void {
  const { profiles } = load();
  const { secret } = profiles?.[name] ?? {};
  store({ current: name, profiles: { ...profiles, [name]: { ...present({ secret }), ...profile } } });
}

/** Adds the secret of its listener to a profile. */
export function keepSecret(name: string, secret: string): void {
  const { profiles, ...stored } = load();
  store({ ...stored, profiles: { ...profiles, [name]: { ...profiles?.[name], secret } } });
}

/** Returns the name of the profile that an option names, or of the current one. */
export const profileName = (wanted: unknown): string =>
  typeof wanted === 'string' ? wanted : ((process.env['WEBHOOKS_PROFILE'] || load().current) ?? 'default');

/** Reads a profile; the environment wins over the file. Throws when a required field is missing. */
export function readProfile(wanted: unknown): Profile {
  const name = profileName(wanted);
  const fields = { ...load().profiles?.[name], ...fromEnvironment() };
  if (isWhole(fields)) return fields;
  const fix = `webhooks login --profile ${name}, or set ${missingOf(fields).map(variableOf).join(', ')}`;
  throw new Failure('unauthorized', `nobody is logged in (profile ${name})`, fix, 'not-logged-in');
}
