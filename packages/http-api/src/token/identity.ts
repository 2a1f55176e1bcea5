import { isTenantId, type ProblemCode } from '@webhooks/contracts';
import { AppError } from '../request/app-error.js';
import type { TokenClaims } from './token-verifier.js';

/** The caller of a request, and its tenant. */
export interface Identity {
  readonly clientId: string;
  readonly tenantId: string;
  readonly scopes: ReadonlySet<string>;
}

/** How the tenant of a token is determined. */
export interface TenantRule {
  /** Claim of the token that names the tenant. */
  readonly claim: string;
  /** Tenant of a token without the claim; absent: such a token is refused. */
  readonly singleTenant?: string;
}

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
  readonly rule: TenantRule;
}

/**
 * Returns the identity in a token. Throws 403 when the token has none of the scopes or names no tenant. Throws 403 when
 * the header `tenantid` names another tenant: the header is only compared, never trusted.
 */
export function identify({ clientId, scopes, payload }: TokenClaims, needed: Needed): Identity {
  const { tenantHeader, rule } = needed;
  if (!needed.scopes.some((wanted) => scopes.has(wanted))) {
    const detail = `the access token needs the scope ${needed.scopes.join(' or ')}`;
    throw refused('insufficient-scope', detail, needed.scopes);
  }
  const tenantId = payload[rule.claim] ?? rule.singleTenant;
  if (!isTenantId(tenantId)) throw refused('forbidden-tenant', 'the access token names no tenant', []);
  if (tenantHeader !== undefined && tenantHeader !== tenantId) {
    const detail = 'the header tenantid names another tenant than the access token';
    throw refused('forbidden-tenant', detail, needed.scopes);
  }
  return { clientId, tenantId, scopes };
}
