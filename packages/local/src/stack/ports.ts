import { freePort } from '../engine/free-port.js';
import { namedAddress } from '../engine/engine-lifecycle.js';

/** The documented ports of `npm start`; another one is taken when one of these is in use. */
export const PREFERRED_PORTS = {
  // First, because it is one of those that are taken instead of others.
  mongodb: 27017,
  configApi: 8081,
  ingest: 8082,
  queryApi: 8083,
  issuer: 8080,
  kafka: 9092,
  configApiAdmin: 9081,
  ingestAdmin: 9082,
  workerAdmin: 9083,
  queryApiAdmin: 9084,
} as const;

type PortName = keyof typeof PREFERRED_PORTS;
export type Ports = Readonly<Record<PortName, number>>;

/** The preferred port where it is free, else any free one, which is logged. */
export async function choosePort(
  service: string,
  preferred: number | undefined,
  log: (line: string) => void,
): Promise<number> {
  const port = await freePort(preferred);
  if (preferred !== undefined && port !== preferred)
    log(`port ${preferred} is in use; ${service} listens on ${port}`);
  return port;
}

/** An engine that the environment names is not started, so it needs no port here. */
const isStarted = (name: string): boolean =>
  !(name === 'kafka' && namedAddress('KAFKA_BROKERS')) &&
  !(name === 'mongodb' && namedAddress('MONGODB_URI'));

/** Takes the preferred ports where they are free (`fixed`), or any free ones. */
export async function choosePorts(fixed: boolean, log: (line: string) => void): Promise<Ports> {
  const chosen: Record<string, number> = {};
  for (const [name, preferred] of Object.entries(PREFERRED_PORTS)) {
    const service = name
      .replace('worker', 'delivery-worker')
      .replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      .replace('-admin', ' (admin)');
    chosen[name] = await choosePort(service, fixed && isStarted(name) ? preferred : undefined, log);
  }
  return chosen as Ports;
}
