import { SettingsReader } from '@webhooks/runtime';
import { AUDIENCE } from '@webhooks/testkit';
import type { TokenDesk } from '@webhooks/testkit';
import { AppError, createTokenVerifier, readApiSettings } from '../../src/index.js';
import type { TokenVerifier } from '../../src/index.js';
import type { TokenVerifierOptions } from '../../src/token/token-verifier.js';

/** The settings of tokens that an API reads from these variables. */
const readTokenSettings = (env: Readonly<Record<string, string>>) =>
  readApiSettings(new SettingsReader(env), { port: 1, maxOpenRequests: 8, tenantRequestsPerSecond: 0 });

/** A verifier with the settings of the desk, which name its key set, and with these variables. */
export const openVerifier = (
  desk: TokenDesk,
  options: Partial<TokenVerifierOptions> = {},
  env: Readonly<Record<string, string>> = {},
): TokenVerifier =>
  createTokenVerifier({
    ...readTokenSettings({ ...desk.settings, TOKEN_AUDIENCE: AUDIENCE, ...env }),
    ...options,
  });

/** `ok`, or the code of the refusal. */
export async function verdictOf(verifier: TokenVerifier, authorization: string | undefined): Promise<string> {
  try {
    await verifier.verify(authorization);
    return 'ok';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.code;
  }
}
