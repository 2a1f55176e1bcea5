import { sharedAuthority } from '@webhooks/testkit';

export const inDays = (days: number): Date => new Date(Date.now() + days * 86_400_000);

/** A pair as a policy takes it; a new one for each pair of dates. */
export async function issuePair(dates: { notBefore?: Date; notAfter?: Date } = {}) {
  const { certPem: certificate, keyPem: key } = await (await sharedAuthority()).issue(['acme'], dates);
  return { certificate, key };
}
