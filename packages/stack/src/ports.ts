import { freePort } from '@webhooks/engines';

/** The documented ports of `npm start`; another one is taken when one of these is in use. */
export const PREFERRED_PORTS = {
  configApi: 8081,
  ingest: 8082,
  queryApi: 8083,
  issuer: 8080,
  kafka: 9092,
  mongodb: 27017,
  configApiAdmin: 9081,
  ingestAdmin: 9082,
  workerAdmin: 9083,
  queryApiAdmin: 9084,
} as const;

export type PortName = keyof typeof PREFERRED_PORTS;
export type Ports = Readonly<Record<PortName, number>>;

/** Takes the preferred ports where they are free (`fixed`), or any free ones. Logs each one that was in use. */
export async function choosePorts(fixed: boolean, log: (line: string) => void): Promise<Ports> {
  const chosen: Record<string, number> = {};
  const taken = new Set<number>();
  for (const [name, preferred] of Object.entries(PREFERRED_PORTS)) {
    let port = await freePort(fixed ? preferred : undefined);
    while (taken.has(port)) port = await freePort();
    if (fixed && port !== preferred) {
      const service = name
        .replace('worker', 'delivery-worker')
        .replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      log(`port ${preferred} is in use; ${service.replace('-admin', ' (admin)')} listens on ${port}`);
    }
    taken.add(port);
    chosen[name] = port;
  }
  return chosen as Ports;
}
