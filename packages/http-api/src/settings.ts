import type { SettingsReader } from '@webhooks/runtime';
import { DEFAULT_OPEN_BODY_BYTES } from './body-budget.js';
import type { TenantRule } from './identity.js';

/** Settings that every service with a public HTTP port has. */
export interface ApiSettings {
  readonly host: string;
  readonly port: number;
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUri: string;
  readonly maxTokenLifetimeSeconds: number;
  readonly tenantRule: TenantRule;
  /** Bytes that the bodies of all open requests may have together; default 64 MiB. */
  readonly maxOpenBodyBytes: number;
}

export function readApiSettings(settings: SettingsReader, defaultPort: number): ApiSettings {
  const issuer = settings.url('TOKEN_ISSUER');
  const singleTenant = settings.optionalText('SINGLE_TENANT');
  return {
    host: settings.text('HOST', '0.0.0.0'),
    port: settings.port('PORT', defaultPort),
    issuer,
    audience: settings.text('TOKEN_AUDIENCE'),
    jwksUri: settings.url('TOKEN_JWKS_URI', issuer === '' ? undefined : `${issuer.replace(/\/$/, '')}/jwks`),
    maxTokenLifetimeSeconds: settings.integer('TOKEN_MAX_LIFETIME_SECONDS', 86_400, {
      min: 60,
      max: 31_536_000,
    }),
    // Not less than the largest body of an operation, which would never fit.
    maxOpenBodyBytes: settings.integer('MAX_OPEN_BODY_BYTES', DEFAULT_OPEN_BODY_BYTES, { min: 1_048_576 }),
    tenantRule: {
      claim: settings.text('TENANT_CLAIM', 'tenant_id'),
      ...(singleTenant === undefined ? {} : { singleTenant }),
    },
  };
}
