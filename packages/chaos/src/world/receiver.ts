import { createHash } from 'node:crypto';
import { freePort } from '@webhooks/engines';
import type { CertificateAuthority } from '@webhooks/engines';
import { startEndpoint } from '@webhooks/testkit';
import type { ConnectionManners, Endpoint, Script } from '@webhooks/testkit';
import type { ReceiverName } from './configurations.js';

/** How a receiver behaves; by default as it does when nothing is wrong. */
export interface Manners {
  readonly answer?: Script;
  readonly connection?: ConnectionManners;
  /** Nobody listens. */
  readonly closed?: true;
}

/** A real HTTPS receiver at a fixed port that changes its manners. */
export interface Receiver {
  readonly origin: string;
  /** Breaks what is open and goes on like this. */
  become(manners: Manners): Promise<void>;
  close(): Promise<void>;
}

/** One event of so many is refused again and again by the stubborn receiver; the others keep its breaker closed. */
const STUBBORN_ONE_OF = 8;

/** Whether the stubborn receiver refuses this event, whenever it comes during the run. */
const isStubborn = (eventId: string): boolean =>
  createHash('sha256').update(eventId).digest().readUInt16BE() % STUBBORN_ONE_OF === 0;

/** Appends a line for each arrival to `file` before it responds. */
export async function openReceiver(
  name: ReceiverName,
  file: string,
  authority: CertificateAuthority,
): Promise<Receiver> {
  const port = await freePort();
  const usual: Script = name === 'stubborn' ? ({ id }) => (isStubborn(id) ? 500 : 200) : 200;
  const { certPem, keyPem } = await authority.issue(['localhost']);
  let endpoint: Endpoint | undefined;
  const shut = async (): Promise<void> => {
    await endpoint?.close();
    endpoint = undefined;
  };
  const open = async ({ answer = usual, connection = 'accept', closed }: Manners): Promise<void> => {
    await shut();
    if (closed === true) return;
    endpoint = await startEndpoint({ port, file, certPem, keyPem, remember: 1, answer, connection });
  };
  let last = Promise.resolve();
  /** One after the other: a fault may be taken back while the next one begins. */
  const inTurn = (change: () => Promise<void>): Promise<void> => {
    last = last.then(change);
    return last;
  };
  const become = (manners: Manners): Promise<void> => inTurn(() => open(manners));
  await become({});
  return { origin: `https://localhost:${port}`, become, close: () => inTurn(shut) };
}
