import { freePort } from '../engine/free-port.js';
import { namedAddress } from '../engine/engine-lifecycle.js';

/** The documented ports of `npm start`. A port in use is replaced by a free one. */
export const PREFERRED_PORTS = {
  // First, because it lies in the range of random free ports, one of which another service could otherwise get.
  mongodb: 27017,
  configApi: 8081,
  ingest: 8082,
  queryApi: 8083,
  console: 8084,
  issuer: 8080,
  kafka: 9092,
  configApiAdmin: 9081,
  ingestAdmin: 9082,
  workerAdmin: 9083,
  queryApiAdmin: 9084,
  consoleAdmin: 9085,
} as const;

type PortName = keyof typeof PREFERRED_PORTS;
export type Ports = Readonly<Record<PortName, number>>;

/** Returns the preferred port if it is free, else any free one, and logs the change. */
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

/** Chooses a port for each service. `fixed`: the preferred one if it is free; otherwise any free one. */
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
