import { AUDIENCE } from '@webhooks/testkit';
import type { TokenDesk } from '@webhooks/testkit';
import { AppError, createTokenVerifier } from '../../src/index.js';
import type { TokenVerifier, TokenVerifierOptions } from '../../src/index.js';

export const openVerifier = (desk: TokenDesk, options: Partial<TokenVerifierOptions> = {}): TokenVerifier =>
  createTokenVerifier({
    issuer: desk.issuer,
    audience: AUDIENCE,
    jwksUri: `${desk.issuer}jwks`,
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
