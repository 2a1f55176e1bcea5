import { isTenantId } from '@webhooks/contracts';
import type { SettingsReader } from '@webhooks/runtime';
import { readListenSettings } from './listen.js';
import type { RateLimit } from '../limits/tenant-limiter.js';
import { readTenantFile } from '../token/tenant-file.js';
import { readTokenShape } from '../token/token-profiles.js';

/** Defaults of the settings of one service. */
export interface ApiDefaults {
  readonly port: number;
  readonly maxOpenRequests: number;
  /** 0: no limit. */
  readonly tenantRequestsPerSecond: number;
}

/** The default burst is as many requests or events as ten seconds allow. */
export const BURST_SECONDS = 10;
/** Upper bound of rates: a higher rate is a mistake. */
const MAX_PER_SECOND = 1_000_000;

function readTenantRequests(settings: SettingsReader, fallback: number): RateLimit {
  const perSecond = settings.integer('TENANT_REQUESTS_PER_SECOND', fallback, { max: MAX_PER_SECOND });
  const burst = settings.integer('TENANT_REQUESTS_BURST', Math.max(1, BURST_SECONDS * perSecond), { min: 1 });
  return { perSecond, burst };
}

function readSingleTenant(settings: SettingsReader): string | undefined {
  const singleTenant = settings.optionalText('SINGLE_TENANT');
  settings.refuseWhen(
    singleTenant !== undefined && !isTenantId(singleTenant),
    'SINGLE_TENANT must be 1 to 128 letters, digits or . _ : @ -, the first a letter or digit',
  );
  return singleTenant;
}

/** Reads which access tokens are accepted. */
export function readTokenSettings(settings: SettingsReader) {
  const issuer = settings.url('TOKEN_ISSUER');
  settings.refuseWhen(/^\w+:\/\/[^/]*@/.test(issuer), 'TOKEN_ISSUER must have no user and no password');
  return {
    issuer,
    audience: settings.text('TOKEN_AUDIENCE'),
    /** Undefined: the keys are found by discovery. */
    jwksUri: settings.url('TOKEN_JWKS_URI', '') || undefined,
    tokenShape: readTokenShape(settings),
    maxTokenLifetimeSeconds: settings.integer('TOKEN_MAX_LIFETIME_SECONDS', 86_400, {
      min: 60,
      max: 31_536_000,
    }),
  };
}

/** Reads the settings of a service with a public API. */
export function readApiSettings(settings: SettingsReader, defaults: ApiDefaults) {
  return {
    ...readListenSettings(settings, defaults.port),
    ...readTokenSettings(settings),
    /**
     * Bytes of the bodies of all open requests. The minimum lets one tenant alone (half) send the largest body (1
     * MiB).
     */
    maxOpenBodyBytes: settings.integer('MAX_OPEN_BODY_BYTES', 64 * 1_048_576, { min: 2 * 1_048_576 }),
    /** Requests under way at the same time. One tenant alone gets half. */
    maxOpenRequests: settings.integer('MAX_OPEN_REQUESTS', defaults.maxOpenRequests, {
      min: 1,
      max: 100_000,
    }),
    /** The rate limit of one tenant. */
    tenantRequests: readTenantRequests(settings, defaults.tenantRequestsPerSecond),
    /** The tenants of clients whose tokens do not name one. */
    tenantFile: settings.parsed('TENANT_BY_CLIENT_FILE', '', readTenantFile),
    /** Tenant of tokens without one. */
    singleTenant: readSingleTenant(settings),
  };
}

export type TokenSettings = ReturnType<typeof readTokenSettings>;

/** The settings of a service with a public API; `readApiSettings` has the defaults and bounds. */
export interface ApiSettings extends ReturnType<typeof readApiSettings> {
  /** Callers with this scope are the operator's own, and have no tenant limit. Set by the service, not by a setting. */
  readonly exemptScope?: string;
}
