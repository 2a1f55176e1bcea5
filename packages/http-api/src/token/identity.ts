import { isTenantId } from '@webhooks/contracts';
import { AppError } from '../request/app-error.js';
import type { TokenClaims } from './token-verifier.js';

/** Who calls, and for whom. */
export interface Identity {
  readonly clientId: string;
  readonly tenantId: string;
  readonly scopes: ReadonlySet<string>;
}

export interface TenantRule {
  /** Claim of the token that names the tenant. */
  readonly claim: string;
  /** Tenant of a token without the claim; absent: such a token is refused. */
  readonly singleTenant?: string;
}

/** Header of every 403 (RFC 6750 §3.1): the scopes that would allow the request. */
export const scopeChallenge = (scopes: readonly string[]): Readonly<Record<string, string>> => ({
  'www-authenticate': `Bearer realm="webhooks", error="insufficient_scope", scope="${scopes.join(' ')}"`,
});

function tenantOf(claims: TokenClaims, rule: TenantRule): string {
  const tenant = claims.payload[rule.claim] ?? rule.singleTenant;
  if (isTenantId(tenant)) return tenant;
  throw new AppError('forbidden-tenant', 'the access token names no tenant', {
    headers: scopeChallenge([]),
  });
}

/**
 * Whom the token speaks for. Throws 403 when it has none of the scopes, names no tenant, or the header
 * `tenantid` says another one; the header is only compared, never trusted.
 */
export function identify(
  claims: TokenClaims,
  needed: {
    readonly scopes: readonly string[];
    readonly tenantHeader: string | undefined;
    readonly rule: TenantRule;
  },
): Identity {
  const { scopes } = claims;
  if (!needed.scopes.some((wanted) => scopes.has(wanted))) {
    throw new AppError(
      'insufficient-scope',
      `the access token needs the scope ${needed.scopes.join(' or ')}`,
      {
        headers: scopeChallenge(needed.scopes),
      },
    );
  }
  const tenantId = tenantOf(claims, needed.rule);
  if (needed.tenantHeader !== undefined && needed.tenantHeader !== tenantId) {
    throw new AppError('forbidden-tenant', 'the header tenantid names another tenant than the access token', {
      headers: scopeChallenge(needed.scopes),
    });
  }
  return { clientId: claims.clientId, tenantId, scopes };
}
