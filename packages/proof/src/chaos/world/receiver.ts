import { createHash } from 'node:crypto';
import { freePort } from '@webhooks/local';
import type { CertificateAuthority } from '@webhooks/local';
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

/** One event of so many is refused again and again by the stubborn receiver; the others keep its breaker closed. */
const STUBBORN_ONE_OF = 8;

/** Whether the stubborn receiver refuses this event, whenever it comes during the run. */
const isStubborn = (eventId: string): boolean =>
  createHash('sha256').update(eventId).digest().readUInt16BE() % STUBBORN_ONE_OF === 0;

/** A real HTTPS receiver at a fixed port that changes its manners. It appends a line for each arrival to `file` before it responds. */
export async function openReceiver(name: ReceiverName, file: string, authority: CertificateAuthority) {
  const port = await freePort();
  const usual: Script = name === 'stubborn' ? ({ id }) => (isStubborn(id) ? 500 : 200) : 200;
  const { certPem, keyPem } = await authority.issue(['localhost']);
  let endpoint: Endpoint | undefined;
  let last = Promise.resolve();
  /** Breaks what is open and goes on like this. One after the other: a fault may be taken back while the next one begins. */
  const become = ({ answer = usual, connection = 'accept', closed }: Manners): Promise<void> =>
    (last = last.then(async () => {
      await endpoint?.close();
      endpoint = undefined;
      if (closed !== true)
        endpoint = await startEndpoint({ port, file, certPem, keyPem, remember: 1, answer, connection });
    }));
  await become({});
  return { origin: `https://localhost:${port}`, become, close: () => become({ closed: true }) };
}
export type Receiver = Awaited<ReturnType<typeof openReceiver>>;
