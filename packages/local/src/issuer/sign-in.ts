import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type Provider from 'oidc-provider';
import type { AdapterFactory, AdapterPayload, Configuration } from 'oidc-provider';

/** A person of the demonstration. He signs in without a password. */
export interface DevelopmentPerson {
  readonly sub: string;
  readonly name: string;
  /** Value of the claim `tenant_id`; absent for an operator's person. */
  readonly tenantId?: string;
  readonly scopes: readonly string[];
}

/** A web application whose users sign in. */
export interface DevelopmentWebClient {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly signedOutUri: string;
}

/** Sign-ins, codes, sessions and grants that are kept; beyond it the oldest end. */
const MAX_STORED = 1_000;

/** Stores sign-ins in memory. */
export function memoryAdapter(): AdapterFactory {
  const stored = new LRUCache<string, AdapterPayload>({ max: MAX_STORED });
  const find = (wanted: (payload: AdapterPayload) => boolean) =>
    [...stored].find(([, payload]) => wanted(payload));
  return (kind) => ({
    upsert: (id, payload, expiresInS = 0) => {
      stored.set(`${kind} ${id}`, payload, { ttl: expiresInS * 1_000 });
      return Promise.resolve();
    },
    find: (id) => Promise.resolve(stored.get(`${kind} ${id}`)),
    findByUid: (uid) => Promise.resolve(find((payload) => payload.uid === uid)?.[1]),
    findByUserCode: () => Promise.resolve(undefined),
    consume: (id) => {
      Object.assign(stored.get(`${kind} ${id}`) ?? {}, { consumed: Date.now() });
      return Promise.resolve();
    },
    destroy: (id) => Promise.resolve(void stored.delete(`${kind} ${id}`)),
    revokeByGrantId: (grantId) => {
      for (const [key, payload] of stored) if (payload.grantId === grantId) stored.delete(key);
      return Promise.resolve();
    },
  });
}

/** What the code grant adds to the configuration: people, their rights, and the pages for signing in and out. */
export function signInConfiguration(
  people: readonly DevelopmentPerson[],
  resource: string,
  scopes: readonly string[],
) {
  const personOf = (sub: string | undefined) => people.find((person) => person.sub === sub);
  return {
    personOf,
    configuration: {
      interactions: { url: (_context, { uid }) => `/sign-in/${uid}` },
      findAccount: (_context, sub) => {
        const person = personOf(sub);
        return person && { accountId: sub, claims: () => ({ sub, name: person.name }) };
      },
      issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
      // Nobody is asked for consent: a person has the rights of the demonstration.
      loadExistingGrant: async ({ oidc }) => {
        const { client, session, provider } = oidc;
        const { accountId } = session ?? {};
        const granted = personOf(accountId)?.scopes ?? [];
        const refused = scopes.filter((scope) => !granted.includes(scope)).join(' ');
        const grant = new provider.Grant({ clientId: client?.clientId, accountId });
        // The provider looks for them among the scopes of the resource, and among its own.
        grant.addOIDCScope(['openid', 'offline_access', ...granted].join(' '));
        grant.addResourceScope(resource, granted.join(' '));
        grant.rejectOIDCScope(refused);
        grant.rejectResourceScope(resource, refused);
        await grant.save();
        return grant;
      },
    } satisfies Configuration,
  };
}

export const SIGN_OUT_PAGES = {
  logoutSource: (context, form) => {
    context.body = `<!doctype html><title>Sign out</title>${form}<button form="op.logoutForm" name="logout" value="yes">Sign out</button>`;
  },
  postLogoutSuccessSource: (context) => {
    context.body = '<!doctype html><title>Signed out</title><p>Signed out.</p>';
  },
} satisfies NonNullable<Configuration['features']>['rpInitiatedLogout'];

/** Serves the page on which one of the people signs in. Returns false for any other request. */
export async function serveSignIn(
  provider: Provider,
  people: readonly DevelopmentPerson[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://issuer');
  if (!pathname.startsWith('/sign-in/')) return false;
  const sub = searchParams.get('person');
  if (people.some((person) => person.sub === sub)) {
    await provider.interactionFinished(request, response, { login: { accountId: sub ?? '' } });
    return true;
  }
  const links = people.map((person) => `<li><a href="?person=${person.sub}">${person.name}</a></li>`);
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(`<!doctype html><title>Sign in</title><h1>Sign in as</h1><ul>${links.join('')}</ul>`);
  return true;
}
