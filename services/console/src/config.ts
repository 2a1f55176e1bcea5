import { readListenSettings, readTokenSettings } from '@webhooks/http-api';
import type { SettingsReader } from '@webhooks/runtime';

/** Every right that a page of a tenant's person uses. An operator's `tenant.any` is not among them: most issuers grant a scope to a client, not to a person. */
const AUTHORIZATION =
  'scope=openid offline_access webhook.read webhook.write event.read cob.read pix.read delivery.read delivery.write';

function parsePublicUrl(text: string): URL {
  const url = new URL(text);
  const isHere = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isHere);
  if (isSafe && url.href === `${url.origin}/`) return url;
  throw new Error('expected an origin such as https://console.example.com; http:// is for this machine only');
}

export const readConsoleConfig = (settings: SettingsReader) => ({
  listen: readListenSettings(settings, 8084),
  tokens: readTokenSettings(settings),
  /** The origin at which browsers reach the console. */
  publicUrl: settings.parsed('PUBLIC_URL', undefined, parsePublicUrl) ?? new URL('http://localhost'),
  configApi: settings.url('CONFIG_API_URL'),
  queryApi: settings.url('QUERY_API_URL'),
  clientId: settings.text('CLIENT_ID'),
  clientSecret: settings.text('CLIENT_SECRET'),
  /** Parameters of the authorization request, as a query: scopes, and what an issuer needs besides, such as `audience`. */
  authorization: settings.text('AUTHORIZATION_PARAMETERS', AUTHORIZATION),
});

export type ConsoleConfig = ReturnType<typeof readConsoleConfig>;
