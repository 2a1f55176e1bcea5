import type { CertificateAuthority } from '@webhooks/engines';
import { startEndpoint } from '@webhooks/testkit';
import type { ConnectionManners, Endpoint, Script } from '@webhooks/testkit';

/** How a receiver behaves. */
export interface Manners {
  readonly answer?: Script;
  readonly connection?: ConnectionManners;
  /** Nobody listens. */
  readonly closed?: true;
  /** Shows a certificate that has ended an hour ago. */
  readonly expired?: true;
}

export interface ReceiverOptions {
  /** In its URL and its certificate. */
  readonly host: string;
  readonly port: number;
  /** Append-only; one NDJSON line for each arrival, written before it is answered. */
  readonly file: string;
  readonly authority: CertificateAuthority;
  /** How it behaves when nothing is wrong. */
  readonly usual: Manners;
}

/** A real HTTPS receiver at a fixed port that changes its manners. */
export interface Receiver {
  readonly origin: string;
  /** Breaks what is open and goes on like this. */
  become(manners: Manners): Promise<void>;
  /** As at first. */
  behave(): Promise<void>;
  close(): Promise<void>;
}

const HOUR_MS = 3_600_000;

async function credentialsFor(
  authority: CertificateAuthority,
  host: string,
  { expired }: Manners,
): Promise<{ readonly certPem: string; readonly keyPem: string }> {
  if (expired !== true) return authority.issue([host]);
  const now = Date.now();
  return authority.issue([host], {
    notBefore: new Date(now - 2 * HOUR_MS),
    notAfter: new Date(now - HOUR_MS),
  });
}

export async function openReceiver({
  host,
  port,
  file,
  authority,
  usual,
}: ReceiverOptions): Promise<Receiver> {
  let endpoint: Endpoint | undefined;
  const close = async (): Promise<void> => {
    await endpoint?.close();
    endpoint = undefined;
  };
  const become = async (manners: Manners): Promise<void> => {
    await close();
    if (manners.closed === true) return;
    const { certPem, keyPem } = await credentialsFor(authority, host, manners);
    const { answer = 200, connection = 'accept' } = manners;
    endpoint = await startEndpoint({ port, file, certPem, keyPem, remember: 1, answer, connection });
  };
  await become(usual);
  return { origin: `https://${host}:${port}`, become, behave: () => become(usual), close };
}
