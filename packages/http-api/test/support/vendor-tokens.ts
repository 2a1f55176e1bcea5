import { AUDIENCE } from '@webhooks/testkit';
import type { TokenChange } from '@webhooks/testkit';

/** The changes that make each of its issuer's tokens of a token of RFC 9068. `tenant_id` is the operator's own claim. */
export interface VendorTokens {
  /** Of a client for itself, with the scopes `thing.read` and `thing.write`. */
  readonly client: TokenChange;
  /** Of a client for the person `person-1`. */
  readonly person: TokenChange;
  /** An ID token whose audience is this service by mistake. */
  readonly id: TokenChange;
}

type Claims = Readonly<Record<string, unknown>>;

/** Claims of RFC 9068 that other issuers do not have, unless they are given. */
const NONE: Claims = { client_id: undefined, jti: undefined, scope: undefined };
const token = (typ: string | undefined, claims: Claims): TokenChange => ({
  header: { typ },
  claims: { ...NONE, ...claims },
});
const SCOPE = 'thing.read thing.write';

/** As Keycloak 26.7.2 gives them, with a mapper: https://www.keycloak.org/docs/latest/server_admin/#audience-support */
const keycloakClient = {
  ...{
    jti: 'trrtcc:1',
    aud: ['account', AUDIENCE],
    sub: '5b8a8a3c-2f6f-4f0e-9a51-3f1d0f8a2f11',
    typ: 'Bearer',
  },
  ...{
    azp: 'client-1',
    acr: '1',
    realm_access: { roles: ['offline_access', 'admin'] },
    scope: `profile email ${SCOPE}`,
  },
  ...{ clientHost: '127.0.0.1', preferred_username: 'service-account-client-1', client_id: 'client-1' },
};
const keycloakPerson = {
  ...{
    ...keycloakClient,
    sub: 'person-1',
    sid: 'session-1',
    preferred_username: 'ana',
    client_id: undefined,
  },
};

/** https://auth0.com/docs/secure/tokens/access-tokens/access-token-profiles, "Auth0 profile sample token" */
const auth0Client = { sub: 'client-1@clients', azp: 'client-1', gty: 'client-credentials', scope: SCOPE };

/** https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference, version 2.0 */
const entraClient = {
  ...{
    azp: 'client-1',
    azpacr: '1',
    oid: 'service-1',
    sub: 'service-1',
    tid: 'directory-1',
    uti: 'u',
    ver: '2.0',
  },
  roles: ['thing.read', 'thing.write'],
};
const entraPerson = {
  ...entraClient,
  oid: 'person-1',
  sub: 'pairwise',
  scp: `${SCOPE} openid`,
  roles: undefined,
};

/** https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-access-token.html */
const cognitoClient = {
  ...{ aud: undefined, sub: 'client-1', client_id: 'client-1', jti: 'j', token_use: 'access', version: 2 },
  scope: `${AUDIENCE}/thing.read ${AUDIENCE}/thing.write other-api/thing.any`,
};

/** https://developer.okta.com/docs/api/openapi/okta-oauth/guides/overview/, "Access token payload" */
const oktaClient = {
  ver: 1,
  jti: 'AT.1',
  cid: 'client-1',
  sub: 'client-1',
  scp: ['thing.read', 'thing.write'],
};

const idToken = { sub: 'person-1', name: 'Ana', preferred_username: 'ana', auth_time: 1 };

/** Tokens by profile, as each issuer documents them. */
export const VENDOR_TOKENS: Readonly<Record<string, VendorTokens>> = {
  rfc9068: {
    client: {},
    person: { claims: { sub: 'person-1' } },
    // https://openid.net/specs/openid-connect-core-1_0.html#IDToken
    id: token('JWT', { ...idToken, acr: '1', amr: ['pwd'] }),
  },
  keycloak: {
    client: token('JWT', keycloakClient),
    person: token('JWT', keycloakPerson),
    // Of client credentials with scope=openid: it has a client_id, too.
    id: token('JWT', { ...keycloakClient, typ: 'ID' }),
  },
  auth0: {
    client: token('JWT', auth0Client),
    person: token('JWT', {
      ...auth0Client,
      sub: 'person-1',
      aud: [AUDIENCE, 'https://acme.eu.auth0.com/userinfo'],
    }),
    // https://auth0.com/docs/secure/tokens/id-tokens/id-token-structure
    id: token('JWT', idToken),
  },
  entra: {
    client: token('JWT', entraClient),
    person: token('JWT', entraPerson),
    // https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference, of the code flow
    id: token('JWT', { ...idToken, oid: 'person-1', roles: ['thing.read'], tid: 'directory-1', ver: '2.0' }),
  },
  cognito: {
    client: token(undefined, cognitoClient),
    person: token(undefined, {
      ...cognitoClient,
      sub: 'person-1',
      username: 'ana',
      'cognito:groups': ['admin'],
    }),
    id: token(undefined, { ...idToken, token_use: 'id', 'cognito:username': 'ana', jti: 'j' }),
  },
  okta: {
    client: token(undefined, oktaClient),
    person: token(undefined, { ...oktaClient, sub: 'ana@acme.com.br', uid: 'person-1' }),
    id: token(undefined, { ...idToken, ver: 1, jti: 'ID.1', amr: ['pwd'], idp: 'i', at_hash: 'h' }),
  },
};

/** Adds changes to a token. */
export const withChange = (base: TokenChange, change: TokenChange): TokenChange => ({
  ...{ ...base, ...change },
  header: { ...base.header, ...change.header },
  claims: { ...base.claims, ...change.claims },
});
