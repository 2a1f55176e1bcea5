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

/** Takes the preferred ports where they are free (`fixed`), or any free ones. */
export async function choosePorts(fixed: boolean): Promise<Ports> {
  const chosen: Record<string, number> = {};
  const taken = new Set<number>();
  for (const [name, preferred] of Object.entries(PREFERRED_PORTS)) {
    let port = await freePort(fixed ? preferred : undefined);
    while (taken.has(port)) port = await freePort();
    taken.add(port);
    chosen[name] = port;
  }
  return chosen as Ports;
}
