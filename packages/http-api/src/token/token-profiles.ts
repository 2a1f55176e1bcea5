import type { SettingsReader } from '@webhooks/runtime';

/**
 * The shape of an issuer's access tokens. A claim is a name, or a JSON pointer (RFC 6901) when it begins with `/`.
 * `exp`, `iat`, `iss` and the client are required in every shape.
 */
interface TokenProfile {
  /** Allowed values of the header `typ`, in lower case and without `application/`; `none`: no such header. */
  readonly types: readonly string[];
  /** Claim with the client id. */
  readonly client: string;
  /** Claim that names a person; with the client's id as its value it names none. */
  readonly person: string;
  /** Claim that only a person's token has. Absent: `person` alone tells. */
  readonly personMark?: string;
  /** Claims with scopes or roles, all of which count: a text separated by blanks, or a list when `[]` follows. */
  readonly scopes: readonly string[];
  /**
   * Claim with the audience. When it is one of `scopes`, the audience is the prefix of a scope, as in
   * `audience/webhook.read`. Then other scopes of that claim do not count, and `aud` may be absent.
   */
  readonly audience: string;
  /** Further required claims: `name`, or `name=value`. */
  readonly required: readonly string[];
}

const RFC_9068: TokenProfile = {
  ...{ types: ['at+jwt'], client: 'client_id', person: 'sub', scopes: ['scope'], audience: 'aud' },
  required: ['sub', 'jti'],
};
const JWT: TokenProfile = { ...RFC_9068, types: ['jwt'], client: 'azp', required: ['sub'] };

/** The tokens that each issuer issues by default. `rfc9068` is for an issuer that was switched to it. */
const PROFILES: Readonly<Record<string, TokenProfile>> = {
  rfc9068: RFC_9068,
  // All its tokens have the header typ JWT; the claim typ is Bearer in access tokens alone.
  keycloak: { ...JWT, types: ['jwt', 'at+jwt'], personMark: 'sid', required: ['sub', 'jti', 'typ=Bearer'] },
  auth0: JWT,
  entra: { ...JWT, person: 'oid', personMark: 'scp', scopes: ['scp', 'roles[]'] },
  // Each scope names its resource server, and a client gets only scopes of servers that it was admitted to.
  cognito: { ...RFC_9068, types: ['none'], audience: 'scope', required: ['sub', 'jti', 'token_use=access'] },
  okta: { ...RFC_9068, types: ['none'], client: 'cid', person: 'uid', scopes: ['scp[]'] },
};

function parseProfile(name: string): TokenProfile {
  const profile = Object.hasOwn(PROFILES, name) ? PROFILES[name] : undefined;
  if (profile === undefined) throw new Error(`expected one of ${Object.keys(PROFILES).join(', ')}`);
  return profile;
}

/** Parses a list such as `admin=webhook.read webhook.write,reader=webhook.read`: the scopes of each role. */
const parseRoles = (text: string): ReadonlyMap<string, readonly string[]> =>
  new Map(
    text.split(',').map((entry) => {
      const [, role, scopes] = /^(.+)=([\w. ]+)$/.exec(entry.trim()) ?? [];
      if (role === undefined || scopes === undefined)
        throw new Error('expected entries such as admin=webhook.read webhook.write, separated by commas');
      return [role, scopes.split(' ')];
    }),
  );

/** Reads the profile and the settings that replace its parts. */
export function readTokenShape(settings: SettingsReader) {
  const profile = settings.parsed('TOKEN_PROFILE', 'rfc9068', parseProfile) ?? RFC_9068;
  return {
    ...profile,
    types: settings.list('TOKEN_TYPES', profile.types),
    client: settings.text('TOKEN_CLIENT_CLAIM', profile.client),
    person: settings.text('TOKEN_PERSON_CLAIM', profile.person),
    scopes: settings.list('TOKEN_SCOPE_CLAIMS', profile.scopes),
    audience: settings.text('TOKEN_AUDIENCE_CLAIM', profile.audience),
    required: settings.list('TOKEN_REQUIRED_CLAIMS', profile.required),
    /** Claim that names the tenant. */
    tenant: settings.text('TENANT_CLAIM', 'tenant_id'),
    /** Scopes of a role, besides a scope of its own name. */
    scopesByRole: settings.parsed('TOKEN_SCOPE_BY_ROLE', '', parseRoles) ?? new Map<string, string[]>(),
  };
}

export type TokenShape = ReturnType<typeof readTokenShape>;
