import { openStrangeAuthority, sharedAuthority } from '@webhooks/testkit';
import { X509Certificate } from 'node:crypto';
import type { ClientCertificate } from '../src/index.js';

export const inDays = (days: number): Date => new Date(Date.now() + days * 86_400_000);

type Dates = Readonly<Partial<Record<'notBefore' | 'notAfter', Date>>>;

async function issued(
  authority: ReturnType<typeof sharedAuthority>,
  dates: Dates,
): Promise<ClientCertificate> {
  const { certFile, keyFile, certPem, keyPem } = await (await authority).issue(['deliveries'], dates);
  return {
    ...{ certificateFile: certFile, keyFile, certPem, keyPem },
    expiresAt: new X509Certificate(certPem).validToDate,
  };
}

/** A new one at each call, by the authority of the tests. */
export const issueClient = (dates: Dates = {}): Promise<ClientCertificate> =>
  issued(sharedAuthority(), dates);

export const issueExpired = (): Promise<ClientCertificate> =>
  issueClient({ notBefore: inDays(-9), notAfter: inDays(-1) });

/** By an authority that no receiver knows. */
export const issueStrange = (): Promise<ClientCertificate> => issued(openStrangeAuthority(), {});

export const serialOf = ({ certPem }: ClientCertificate): string => new X509Certificate(certPem).serialNumber;
