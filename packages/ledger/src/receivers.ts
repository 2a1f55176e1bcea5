import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { freePort } from '@webhooks/engines';
import type { CertificateAuthority } from '@webhooks/engines';
import { startEndpoint } from '@webhooks/testkit';
import type { Arrival, Endpoint } from '@webhooks/testkit';
import type { Print } from './print.js';
import { refuseFirst } from './refuse-first.js';
import { createArrivalLines } from './show-arrivals.js';

/** The two local receivers: a willing one, and one that refuses two of three first attempts. */
export interface Receivers {
  readonly willing: Endpoint;
  readonly refusing: Endpoint;
  /** Their append-only file. */
  readonly file: string;
  /** From now on arrivals are shown, see `createArrivalLines`. */
  readonly showArrivals: (print: Print) => void;
  readonly close: () => Promise<void>;
}

const PREFERRED_PORT = 8443;

export async function startReceivers(
  file: string,
  authority: CertificateAuthority,
  fixedPorts: boolean,
  print: Print,
): Promise<Receivers> {
  mkdirSync(dirname(file), { recursive: true });
  rmSync(file, { force: true });
  writeFileSync(file, '');
  let show: (arrival: Arrival, status: number) => void = () => undefined;
  const { certPem, keyPem } = await authority.issue(['localhost']);
  const told = (arrival: Arrival, status: number): number => {
    show(arrival, status);
    return status;
  };
  const shared = { certPem, keyPem, file, remember: 1 };
  const port = await freePort(fixedPorts ? PREFERRED_PORT : undefined);
  if (fixedPorts && port !== PREFERRED_PORT)
    print(`· port ${PREFERRED_PORT} is in use; the receiver listens on ${port}`);
  const willing = await startEndpoint({ ...shared, port, answer: (arrival) => told(arrival, 200) });
  const answer = refuseFirst();
  const refusing = await startEndpoint({
    ...shared,
    answer: (arrival) => told(arrival, answer(arrival)),
  });
  return {
    willing,
    refusing,
    file,
    showArrivals: (print) => {
      show = createArrivalLines(print, (work, ms) => setTimeout(work, ms).unref());
    },
    close: async () => {
      await Promise.all([willing.close(), refusing.close()]);
    },
  };
}
