import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { membersOf, useKafkaAddress, startKafka } from '../kafka/start-kafka.js';
import type { KafkaEngine } from '../kafka/start-kafka.js';
import { openCertificateAuthority } from '../certificates/open-certificate-authority.js';
import { startIssuer } from '../issuer/start-issuer.js';
import type { DevelopmentClient } from '../issuer/issuer-configuration.js';
import { startMongo, useMongoAddress } from '../mongo/start-mongo.js';
import type { MongoEngine } from '../mongo/start-mongo.js';
import { PEOPLE, openDevelopmentSecrets, planClients, planConsole } from './clients.js';
import type { DevelopmentWebClient } from '../issuer/sign-in.js';
import { allOrFirstFault, closeAfterFault, closeAll } from '../engine/closers.js';
import type { Closer } from '../engine/closers.js';
import { clientIdOf, createFleet } from './fleet.js';
import type { Fleet } from './fleet.js';
import { keepEngineRunning } from './keep-running.js';
import type { KeptService } from './keep-running.js';
import { planServices } from './service-environments.js';
import type { EngineProxies, ServicePlan } from './service-environments.js';
import { choosePorts } from './ports.js';
import type { Ports } from './ports.js';
import { checkFormat, claimDataDir, writeStackFile } from './stack-file.js';
import type { StackDescription } from './stack-file.js';

export interface StackOptions {
  /** Folder for all data of the stack, which a restart uses again. */
  readonly dataDir: string;
  /** Whether to use the documented ports where they are free; otherwise any free ones. */
  readonly fixedPorts: boolean;
  /** Tenants that get a client besides the two that always exist. */
  readonly tenants?: readonly string[];
  /** Services that are not started; default none. */
  readonly without?: readonly string[];
  /** Whether the console runs too, which no other service needs; default: no. */
  readonly withConsole?: boolean;
  /** Further settings for each service, by its name. */
  readonly overrides?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** `host:port` of each broker of a running Kafka, which the stack does not stop; default: the stack starts one. */
  readonly kafkaBrokers?: readonly string[];
  /** Connection string of a running MongoDB, which the stack does not stop; default: the stack starts one. */
  readonly mongodbUri?: string;
  /** Proxies between services and engines; default none. Embedded engines only. */
  readonly proxies?: EngineProxies;
  /** Whether the embedded Kafka is configured for lasting load (see `KafkaOptions`), default false. */
  readonly forLoad?: boolean;
  readonly log: (line: string) => void;
  /** Called when the data folder is deleted while the stack runs, which then has to be stopped; default: nothing is done. */
  readonly onLost?: (fault: Error) => void;
}

const AUDIENCE = 'https://webhooks.localhost/integration';

function openKafka(
  { dataDir, kafkaBrokers, proxies, forLoad = false, log }: StackOptions,
  port: number,
): Promise<KafkaEngine> {
  if (kafkaBrokers !== undefined) return useKafkaAddress(kafkaBrokers.join(','));
  const proxiedListeners = Object.values(proxies?.kafka ?? {});
  return startKafka({ dataDir: join(dataDir, 'kafka'), port, proxiedListeners, forLoad, log });
}

const openMongo = ({ dataDir, mongodbUri, log }: StackOptions, port: number): Promise<MongoEngine> =>
  mongodbUri === undefined
    ? startMongo({ dataDir: join(dataDir, 'mongodb'), port, log })
    : useMongoAddress(mongodbUri);

async function openEngines(
  options: StackOptions,
  ports: Ports,
  issued: { readonly clients: readonly DevelopmentClient[]; readonly webClient: DevelopmentWebClient },
  closers: Closer[],
) {
  const { dataDir, log } = options;
  const stoppedAtEnd = async <T extends { stop: () => Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const engine = await starting;
    closers.push(() => engine.stop());
    return engine;
  };
  const keysFile = join(dataDir, 'issuer-keys.json');
  const [kafka, mongo, issuer, authority] = await allOrFirstFault([
    stoppedAtEnd(openKafka(options, ports.kafka)),
    stoppedAtEnd(openMongo(options, ports.mongodb)),
    stoppedAtEnd(
      startIssuer({ ...issued, people: PEOPLE, port: ports.issuer, audience: AUDIENCE, keysFile, log }),
    ),
    openCertificateAuthority(join(dataDir, 'certificates')),
  ]);
  return { kafka, mongo, issuer, authority, certificate: await authority.issue(['localhost']) };
}

type Engines = Awaited<ReturnType<typeof openEngines>>;

interface StackParts extends Engines {
  readonly ports: Ports;
  readonly plans: readonly ServicePlan[];
  readonly clients: readonly DevelopmentClient[];
  readonly services: readonly KeptService[];
}

function describe(parts: StackParts): StackDescription {
  const { kafka, mongo, issuer, authority, certificate, ports, plans, clients, services } = parts;
  const pids = [
    ...services.map(({ name, pid }) => [name, pid] as const),
    ['kafka', kafka.pid] as const,
    ['mongodb', mongo.pid] as const,
    ['start', process.pid] as const,
  ];
  return {
    configApi: `http://127.0.0.1:${ports.configApi}`,
    ingest: `http://127.0.0.1:${ports.ingest}`,
    queryApi: services.some(({ name }) => name === 'query-api') ? `http://127.0.0.1:${ports.queryApi}` : null,
    console: services.some(({ name }) => name === 'console') ? `http://localhost:${ports.console}` : null,
    kafkaBrokers: kafka.brokers,
    mongodbUri: mongo.uri('webhook_config'),
    issuer: issuer.issuer,
    tokenEndpoint: issuer.tokenEndpoint,
    clients,
    tls: { caFile: authority.caFile, certFile: certificate.certFile, keyFile: certificate.keyFile },
    admin: Object.fromEntries(
      [...plans, ...services].map(({ name, adminPort }) => [name, `http://127.0.0.1:${adminPort}`]),
    ),
    processes: Object.fromEntries(pids.flatMap(([name, pid]) => (pid === undefined ? [] : [[name, pid]]))),
  };
}

function prepareDataDir({ dataDir, onLost = () => undefined }: StackOptions, closers: Closer[]): void {
  mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 });
  const release = claimDataDir(dataDir, onLost);
  closers.push(() => Promise.resolve().then(release));
  checkFormat(dataDir);
}

/** Throws when a worker of another stack reads this Kafka. Two stacks would share groups, and could not decrypt each other's secrets. */
async function refuseShared({ isEmbedded, brokers }: KafkaEngine, dataDir: string): Promise<void> {
  if (isEmbedded) return;
  const members = await membersOf(brokers, 'delivery-worker.events');
  const other = members.find((clientId) => !clientId.endsWith(clientIdOf('', dataDir)));
  if (other === undefined) return;
  throw new Error(
    `the worker ${other} reads this Kafka (KAFKA_BROKERS): stop its stack, or use another Kafka`,
  );
}

const wantedOf = (plans: readonly ServicePlan[], { without = [], withConsole = false }: StackOptions) =>
  plans.filter(({ name }) => !without.includes(name) && (withConsole || name !== 'console'));

function clientOf(tenantId: string, clients: readonly DevelopmentClient[]): DevelopmentClient {
  const client = clients.find((candidate) => candidate.tenantId === tenantId);
  if (!client) throw new Error(`there is no client for the tenant ${tenantId}`);
  return client;
}

async function open(options: StackOptions, closers: Closer[]) {
  const { dataDir, log } = options;
  prepareDataDir(options, closers);
  const secrets = openDevelopmentSecrets(dataDir);
  const clients = planClients(options.tenants ?? [], secrets);
  const ports = await choosePorts(options.fixedPorts, log);
  const webClient = planConsole(`http://localhost:${ports.console}`, secrets.clientSecret('console'));
  const engines = await openEngines(options, ports, { clients, webClient }, closers);
  await refuseShared(engines.kafka, dataDir);
  const plans = planServices({
    ...engines,
    ports,
    webClient,
    proxies: options.proxies,
    audience: AUDIENCE,
    keyring: secrets.keyring,
    caFile: engines.authority.caFile,
    overrides: options.overrides ?? {},
  });
  const keep = { log, onProcessesChanged: () => writeStackFile(dataDir, description()) };
  const fleet = createFleet(plans, dataDir, keep);
  const description = (): StackDescription =>
    describe({ ...engines, ports, plans, clients, services: fleet.services });
  closers.push(
    keepEngineRunning('Kafka', engines.kafka, keep),
    keepEngineRunning('MongoDB', engines.mongo, keep),
  );
  closers.push(() => fleet.stopAll());
  await allOrFirstFault(wantedOf(plans, options).map(({ name }) => fleet.start(name)));
  return {
    description,
    /** Issues certificates that deliveries trust. */
    authority: engines.authority,
    /** Stops and starts single services, and starts further processes of them. */
    fleet: fleet as Pick<Fleet, 'start' | 'startReplica' | 'stop'>,
    /** Credentials of a tenant's client. */
    clientOf: (tenantId: string) => clientOf(tenantId, clients),
    /** Stops everything, last started first. */
    stop: () => closeAll(closers, 'the stack'),
  };
}
export type Stack = Awaited<ReturnType<typeof open>>;

/**
 * Starts engines, token issuer, certificates and all services on this machine; resolves when all are ready. After a fault nothing is left
 * running.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const closers: Closer[] = [];
  try {
    return await open(options, closers);
  } catch (error) {
    return await closeAfterFault(closers, 'the stack', error);
  }
}
