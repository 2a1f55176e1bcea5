import { isTenantId, type ProblemCode } from '@webhooks/contracts';
import { AppError } from '../request/app-error.js';
import type { TokenClaims } from './token-claims.js';

/** The caller of a request, and its tenant. */
export interface Identity {
  readonly clientId: string;
  /** The person for whom the client acts; undefined when it acts for itself. */
  readonly personId?: string | undefined;
  readonly tenantId: string;
  readonly scopes: ReadonlySet<string>;
}

/** The scope of an operator's person or tool, which names the tenant of each call in the header `tenantid`. */
export const TENANT_ANY = 'tenant.any';

/** Returns the tenant of a client whose token does not name one; undefined: such a token is refused. */
export type TenantOfClient = (clientId: string) => string | undefined;

/** Returns the header of every 403 (RFC 6750 §3.1): the scopes that would allow the request. */
export const scopeChallenge = (scopes: readonly string[]): Readonly<Record<string, string>> => ({
  'www-authenticate': `Bearer realm="webhooks", error="insufficient_scope", scope="${scopes.join(' ')}"`,
});

const refused = (code: ProblemCode, detail: string, scopes: readonly string[]): AppError =>
  new AppError(code, detail, { headers: scopeChallenge(scopes) });

interface Needed {
  /** The token must have one of these. */
  readonly scopes: readonly string[];
  readonly tenantHeader: string | undefined;
  readonly tenantOf: TenantOfClient;
}

/**
 * Returns the identity in a token. Throws 403 when the token has none of the scopes or names no tenant. The header
 * `tenantid` is trusted with the scope `tenant.any` alone. Otherwise it is compared, and another tenant is 403.
 */
export function identify(claims: TokenClaims, { scopes, tenantHeader, tenantOf }: Needed): Identity {
  const { clientId, personId } = claims;
  if (!scopes.some((wanted) => claims.scopes.has(wanted)))
    throw refused('insufficient-scope', `the access token needs the scope ${scopes.join(' or ')}`, scopes);
  const isAny = claims.scopes.has(TENANT_ANY);
  const tenantId = isAny ? tenantHeader : (claims.tenant ?? tenantOf(clientId));
  if (!isTenantId(tenantId)) {
    const detail = isAny
      ? `with the scope ${TENANT_ANY} the header tenantid names the tenant`
      : 'the access token names no tenant';
    throw refused('forbidden-tenant', detail, scopes);
  }
  if (tenantHeader !== undefined && tenantHeader !== tenantId) {
    const detail = 'the header tenantid names another tenant than the access token';
    throw refused('forbidden-tenant', detail, scopes);
  }
  return { clientId, personId, tenantId, scopes: claims.scopes };
}
