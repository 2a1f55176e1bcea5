import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { checkIssuer, openVerifier, serve } from '@webhooks/http-api';
import type { Checks, ServiceScope } from '@webhooks/runtime';
import type { ConsoleConfig } from '../config.js';
import { createConsole } from './create-console.js';
import { createIssuer } from './issuer.js';

/** What Vite builds. */
const WEB = join(dirname(findPackageJSON(import.meta.url) ?? ''), 'dist', 'web');

/** What `check` looks at. */
export const checks = ({ tokens }: ConsoleConfig): Checks => ({ 'token issuer': checkIssuer(tokens) });

export async function composeConsole(config: ConsoleConfig, scope: ServiceScope): Promise<void> {
  const issuer = createIssuer(config, openVerifier(config.tokens, scope), scope.log);
  await serve(createConsole({ config, issuer, log: scope.log, webDir: WEB }), config.listen, scope);
}
