import { AUDIENCE, TokenDesk, eventually, makeSigningKey } from '@webhooks/testkit';
import type { SigningKey, TokenChange } from '@webhooks/testkit';
import type { TokenVerifier } from '../../src/index.js';
import { VENDOR_TOKENS, withChange } from '../support/vendor-tokens.js';
import { openVerifier } from '../support/verdict.js';

const PROFILES = Object.keys(VENDOR_TOKENS);

let desk: TokenDesk;
let foreign: SigningKey;
const verifiers = new Map<string, TokenVerifier>();
const opened: TokenVerifier[] = [];

async function open(env: Readonly<Record<string, string>>): Promise<TokenVerifier> {
  const verifier = openVerifier(desk, {}, env);
  opened.push(verifier);
  await eventually(() => verifier.isReady());
  return verifier;
}

beforeAll(async () => {
  desk = await TokenDesk.open();
  foreign = await makeSigningKey('k1', 'ES256');
  for (const profile of PROFILES) verifiers.set(profile, await open({ TOKEN_PROFILE: profile }));
});
afterAll(async () => {
  for (const verifier of opened) verifier.close();
  await desk.close();
});

/** `ok`, or the kind of the fault. */
const verdict = (verifier: TokenVerifier | undefined, token: string): Promise<string> =>
  (verifier ?? fail()).verify(`Bearer ${token}`).then(
    () => 'ok',
    (error: unknown) => String(error).replace('AppError: the access token is refused: ', ''),
  );
const fail = (): never => {
  throw new Error('no such profile');
};

const read = async (verifier: TokenVerifier | undefined, change: TokenChange) =>
  (verifier ?? fail()).verify(`Bearer ${await desk.token(change)}`);

describe.each(Object.entries(VENDOR_TOKENS))('the profile %s', (profile, { client, person, id }) => {
  it('accepts the token of a client, with its scopes and its tenant', async () => {
    const claims = await read(verifiers.get(profile), client);
    expect(claims).toMatchObject({ clientId: 'client-1', personId: undefined, tenant: 'acme' });
    expect([...claims.scopes]).toEqual(expect.arrayContaining(['thing.read', 'thing.write']));
    expect(claims.scopes).not.toContain('thing.any');
  });

  it('accepts the token of a person for the same scopes, and names the person', async () => {
    const claims = await read(verifiers.get(profile), person);
    expect(claims).toMatchObject({ clientId: 'client-1', personId: 'person-1', tenant: 'acme' });
    expect([...claims.scopes]).toEqual(expect.arrayContaining(['thing.read', 'thing.write']));
  });

  it.each(PROFILES)('refuses the ID token of %s', async (other) => {
    const { id: theirs } = VENDOR_TOKENS[other] ?? fail();
    expect(await verdict(verifiers.get(profile), await desk.token(theirs))).toMatch(
      /^(it is an ID token and no access token|its type is not allowed|its audience is another one|a required claim is missing or has another value)$/,
    );
  });

  it('refuses its own ID token with a nonce or a hash of the access token for being one', async () => {
    for (const mark of [{ nonce: 'n' }, { at_hash: 'h' }])
      expect(await verdict(verifiers.get(profile), await desk.token(withChange(id, { claims: mark })))).toBe(
        'it is an ID token and no access token',
      );
  });
});

const now = (): number => Math.floor(Date.now() / 1_000);
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const CLAIM = 'a required claim is missing or has another value';
const TYPE = 'its type is not allowed';
const AUDIENCE_FAULT = 'its audience is another one';
const ID = 'it is an ID token and no access token';

/** The change to an issuer's valid token, the fault, and the profiles whose row allows it. */
const HOSTILE: readonly (readonly [
  what: string,
  change: () => TokenChange,
  fault: string,
  allowedBy?: string,
])[] = [
  ['no exp', () => ({ claims: { exp: undefined } }), CLAIM],
  ['a text as exp', () => ({ claims: { exp: String(now() + 60) } }), CLAIM],
  ['an exp that is no safe integer', () => ({ claims: { exp: 1e300 } }), CLAIM],
  [
    'an exp in the year 2100',
    () => ({ claims: { exp: 4_102_444_800 } }),
    'it is valid for longer than allowed',
  ],
  ['an exp ten seconds ago', () => ({ claims: { exp: now() - 10 } }), 'it has expired'],
  ['no iat', () => ({ claims: { iat: undefined } }), CLAIM],
  ['an iat in the future', () => ({ claims: { iat: now() + 60 } }), 'it is not valid yet'],
  ['an nbf in ten minutes', () => ({ claims: { nbf: now() + 600 } }), 'it is not valid yet'],
  ['another iss', () => ({ claims: { iss: 'https://evil.example/' } }), 'its issuer is another one'],
  [
    'an iss without its slash',
    () => ({ claims: { iss: desk.issuer.slice(0, -1) } }),
    'its issuer is another one',
  ],
  ['a list of iss', () => ({ claims: { iss: [desk.issuer] } }), 'its issuer is another one'],
  ['another aud', () => ({ claims: { aud: 'other' } }), AUDIENCE_FAULT],
  ['an aud that begins like ours', () => ({ claims: { aud: `${AUDIENCE}/other` } }), AUDIENCE_FAULT],
  ['no aud', () => ({ claims: { aud: undefined } }), AUDIENCE_FAULT, 'cognito'],
  ['the type JWT', () => ({ header: { typ: 'JWT' } }), TYPE, 'keycloak auth0 entra'],
  ['no type', () => ({ header: { typ: undefined } }), TYPE, 'cognito okta'],
  ['the type at+jwt', () => ({ header: { typ: 'at+jwt' } }), TYPE, 'rfc9068 keycloak'],
  ['the type of a logout token', () => ({ header: { typ: 'logout+jwt' } }), TYPE],
  ['no client', () => ({ claims: { client_id: undefined, azp: undefined, cid: undefined } }), CLAIM],
  ['a number as client', () => ({ claims: { client_id: 7, azp: 7, cid: 7 } }), CLAIM],
  ['no sub', () => ({ claims: { sub: undefined } }), CLAIM],
  ['no jti', () => ({ claims: { jti: undefined } }), CLAIM, 'auth0 entra'],
  // Keycloak before 25 has it in people's access tokens.
  ['a nonce', () => ({ claims: { nonce: 'n' } }), ID, 'keycloak cognito'],
  ['a hash of an access token', () => ({ claims: { at_hash: 'h' } }), ID],
  ['the claim typ of an ID token', () => ({ claims: { typ: 'ID' } }), ID],
  ['the claim token_use of an ID token', () => ({ claims: { token_use: 'id' } }), ID],
  [
    'the claim typ of a refresh token',
    () => ({ claims: { typ: 'Refresh' } }),
    CLAIM,
    'rfc9068 auth0 entra cognito okta',
  ],
  [
    'a token_use of another kind',
    () => ({ claims: { token_use: 'x' } }),
    CLAIM,
    'rfc9068 keycloak auth0 entra okta',
  ],
  ['an unknown kid', () => ({ header: { kid: '../../etc/passwd' } }), 'the issuer has no such key'],
  [
    'a key of its own',
    () => ({ key: foreign, header: { jwk: foreign.publicJwk } }),
    'its signature is wrong',
  ],
  [
    'a key at an address of its own',
    () => ({ key: foreign, header: { jku: 'http://169.254.169.254/' } }),
    'its signature is wrong',
  ],
];

describe.each(PROFILES)('by the profile %s', (profile) => {
  const own = VENDOR_TOKENS[profile]?.client ?? {};

  const rows = HOSTILE.map(([what, change, fault, allowedBy = '']) => {
    const expected = allowedBy.split(' ').includes(profile) ? 'ok' : fault;
    return { what, change, expected };
  });
  it.each(rows)('the verdict on a token with $what is: $expected', async ({ change, expected }) => {
    expect(await verdict(verifiers.get(profile), await desk.token(withChange(own, change())))).toBe(expected);
  });

  it.each(['none', 'nOnE', 'HS256', 'rs256'])(
    'a token with the algorithm %s is refused for it',
    async (alg) => {
      const [header = '', payload] = (await desk.token(own)).split('.');
      const changed = { ...(JSON.parse(Buffer.from(header, 'base64url').toString()) as object), alg };
      expect(await verdict(verifiers.get(profile), `${encode(changed)}.${payload}.AA`)).toBe(
        'its algorithm is not allowed',
      );
    },
  );

  it('a token with another signature or other claims is refused for its signature', async () => {
    const [header, payload, signature = ''] = (await desk.token(own)).split('.');
    const bytes = Buffer.from(signature, 'base64url');
    bytes[10] = (bytes[10] ?? 0) ^ 1;
    const zeros = Buffer.alloc(64).toString('base64url');
    const forged = encode({ ...desk.claims(), ...own.claims, tenant_id: 'other' });
    for (const [claims, wrong] of [
      [payload, bytes.toString('base64url')],
      [payload, zeros],
      [forged, signature],
    ])
      expect(await verdict(verifiers.get(profile), `${header}.${claims}.${wrong}`)).toBe(
        'its signature is wrong',
      );
  });
});

it('a Cognito token that has only scopes of other resource servers is refused for its audience', async () => {
  const change = withChange(VENDOR_TOKENS['cognito']?.client ?? {}, {
    claims: { scope: 'other-api/thing.read thing.read' },
  });
  expect(await verdict(verifiers.get('cognito'), await desk.token(change))).toBe(AUDIENCE_FAULT);
});

describe('a setting', () => {
  const keycloak = VENDOR_TOKENS['keycloak']?.client ?? {};

  it('replaces each part of a profile, by a claim or a JSON pointer', async () => {
    const verifier = await open({
      ...{ TOKEN_TYPES: 'jwt,none', TOKEN_CLIENT_CLAIM: '/app/id', TOKEN_PERSON_CLAIM: '/app/a~1b~0c' },
      ...{ TOKEN_SCOPE_CLAIMS: 'scope,/realm_access/roles[]', TOKEN_AUDIENCE_CLAIM: '/app/for' },
      ...{ TOKEN_REQUIRED_CLAIMS: 'sub,acr=1', TENANT_CLAIM: 'https://acme.com.br/tenant' },
    });
    const app = { id: 'client-2', 'a/b~c': 'person-2', for: [AUDIENCE] };
    const claims = { app, aud: undefined, client_id: undefined, 'https://acme.com.br/tenant': 'globex' };
    const change = withChange(keycloak, { claims });
    const read2 = await read(verifier, change);
    expect(read2).toMatchObject({ clientId: 'client-2', personId: 'person-2', tenant: 'globex' });
    expect([...read2.scopes]).toEqual(expect.arrayContaining(['thing.read', 'offline_access', 'admin']));
    const wrong = [{ acr: '2' }, { app: { ...app, for: 'other' } }, { app: { for: AUDIENCE } }];
    for (const one of wrong)
      expect(await verdict(verifier, await desk.token(withChange(change, { claims: one })))).not.toBe('ok');
    expect(
      await verdict(verifier, await desk.token(withChange(change, { header: { typ: undefined } }))),
    ).toBe('ok');
  });

  it('maps roles to scopes, and an inherited name is no role', async () => {
    const verifier = await open({
      ...{ TOKEN_PROFILE: 'keycloak', TOKEN_SCOPE_CLAIMS: '/realm_access/roles[]' },
      TOKEN_SCOPE_BY_ROLE: 'admin=thing.read thing.write, auditor=thing.read',
    });
    const roles = (values: readonly unknown[]) =>
      withChange(keycloak, { claims: { realm_access: { roles: values } } });
    expect([...(await read(verifier, roles(['admin']))).scopes]).toEqual([
      'admin',
      'thing.read',
      'thing.write',
    ]);
    expect([...(await read(verifier, roles(['auditor', 7, null]))).scopes]).toEqual([
      'auditor',
      'thing.read',
    ]);
    expect([...(await read(verifier, roles(['constructor']))).scopes]).toEqual(['constructor']);
    expect(
      (await read(verifier, withChange(keycloak, { claims: { realm_access: undefined } }))).scopes.size,
    ).toBe(0);
  });

  it('strips the prefix of the audience from scopes, and no other', async () => {
    const scope = `${AUDIENCE}/a api://${AUDIENCE}/b other/c x${AUDIENCE}/d e`;
    const { scopes } = await read(verifiers.get('rfc9068'), { claims: { scope } });
    expect([...scopes]).toEqual(['a', 'b', 'other/c', `x${AUDIENCE}/d`, 'e']);
  });
});
