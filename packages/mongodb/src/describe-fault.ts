/** Most characters of a cause. */
const MAX_CAUSE = 300;

/** What to check, by the text of the fault; the first that fits. */
const FIXES: readonly (readonly [RegExp, string])[] = [
  [/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|timed out/, 'check hosts and ports, and that the server runs'],
  [/ENOENT|EACCES/, 'check the files that it names'],
  [
    /auth/i,
    'check user, password, authSource and authMechanism, and that the user has readWrite on the database',
  ],
  [/certificate|closed|tls|ssl/i, 'check tls, tlsCAFile and tlsCertificateKeyFile'],
];

/** Returns a fault of the database and its fix as text, without the connection string. */
export function describeFault(error: unknown): string {
  const cause = String(error).slice(0, MAX_CAUSE);
  const fix = FIXES.find(([pattern]) => pattern.test(cause))?.[1];
  return fix === undefined ? cause : `${cause}; MONGODB_URI: ${fix}`;
}
