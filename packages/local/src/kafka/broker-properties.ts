/** A further listener of the broker. It advertises a proxy's port, so its clients connect through the proxy. */
export interface ProxiedListener {
  /** Port at 127.0.0.1 on which the broker listens. */
  readonly port: number;
  /** Port at 127.0.0.1 that the broker advertises to clients of `port`. */
  readonly advertisedPort: number;
}

/** A node of a cluster in which each node is a broker and a controller. */
export interface ClusterMember {
  /** Kafka's `node.id`, from 1. */
  readonly nodeId: number;
  /** Port of each node's controller, at 127.0.0.1, in the order of the node ids. */
  readonly controllerPorts: readonly number[];
}

export interface BrokerPlace {
  /** Port for clients, at 127.0.0.1. */
  readonly port: number;
  /** Further listeners, each reached through a proxy; default none. */
  readonly proxiedListeners?: readonly ProxiedListener[];
  /** Port for the broker's own controller, at 127.0.0.1. */
  readonly controllerPort: number;
  /** Folder of the log directories. */
  readonly logDir: string;
  /** Default: a single broker. */
  readonly member?: ClusterMember;
  /** A further listener `SECURE` at localhost, with TLS and SASL; default none. */
  readonly secure?: SecureListener | undefined;
  /**
   * For lasting load, when nobody kills it: hot code is compiled by all of Java's compilers, and a pause of 3 s does not count as the broker's
   * end. Default false: by the quick compiler only, which starts sooner and takes more CPU time for each record, and a pause of 1 s counts.
   */
  readonly forLoad?: boolean | undefined;
}

interface SecureListener {
  readonly port: number;
  /** Settings of the listener and of the authorizer. */
  readonly settings: BrokerSettings;
}

export type BrokerSettings = Readonly<Record<string, string | number | boolean>>;

/**
 * Returns the settings of one small broker that is its own controller (KRaft), with one replica of everything. For a `member`: of a cluster
 * node, with three replicas, two of which must have a record before it is acknowledged.
 */
export function brokerSettings(place: BrokerPlace): BrokerSettings {
  const { port, proxiedListeners = [], controllerPort, logDir, member, secure } = place;
  const securedAt = secure ? [`SECURE://localhost:${secure.port}`] : [];
  // Each is named after its index in the list.
  const named = proxiedListeners.map((listener, index) => ({ ...listener, name: `PROXIED${index}` }));
  return {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: [
      `PLAINTEXT://127.0.0.1:${port}`,
      `CONTROLLER://127.0.0.1:${controllerPort}`,
      ...named.map((listener) => `${listener.name}://127.0.0.1:${listener.port}`),
      ...securedAt,
    ].join(','),
    'advertised.listeners': [
      `PLAINTEXT://127.0.0.1:${port}`,
      ...named.map(({ name, advertisedPort }) => `${name}://127.0.0.1:${advertisedPort}`),
      ...securedAt,
    ].join(','),
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.security.protocol.map': ['CONTROLLER', 'PLAINTEXT', ...named.map(({ name }) => name)]
      .map((name) => `${name}:PLAINTEXT`)
      .concat(secure ? 'SECURE:SASL_SSL' : [])
      .join(','),
    'log.dirs': logDir,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 1,
    'group.initial.rebalance.delay.ms': 0,
    'auto.create.topics.enable': false,
    // After kill -9 the broker is readmitted after 2 s instead of 12 s.
    'broker.session.timeout.ms': place.forLoad === true ? 3_000 : 1_000,
    'broker.heartbeat.interval.ms': 200,
    // No empty records to its own log each 0.5 s: they are a quarter of an idle broker's CPU time.
    'metadata.max.idle.interval.ms': 0,
    // Memory: 2 MiB for the compactor instead of 128, 1 MiB for each index file instead of 10.
    'log.cleaner.dedupe.buffer.size': 2_097_152,
    'log.index.size.max.bytes': 1_048_576,
    'num.network.threads': 1,
    'num.io.threads': 2,
    'background.threads': 2,
    'num.recovery.threads.per.data.dir': 1,
    ...(member === undefined ? {} : memberSettings(member)),
    ...secure?.settings,
  };
}

function memberSettings({ nodeId, controllerPorts }: ClusterMember): BrokerSettings {
  const voters = controllerPorts.map((port, index) => `${index + 1}@127.0.0.1:${port}`);
  return {
    'node.id': nodeId,
    'controller.quorum.voters': voters.join(','),
    'default.replication.factor': 3,
    'min.insync.replicas': 2,
    'offsets.topic.replication.factor': 3,
    'transaction.state.log.replication.factor': 3,
    'transaction.state.log.min.isr': 2,
    // Three nodes on few cores: a short pause of one must not count as a failure.
    'broker.session.timeout.ms': 3_000,
    'broker.heartbeat.interval.ms': 500,
  };
}

/** The text of `server.properties`. */
export function brokerProperties(place: BrokerPlace): string {
  return Object.entries(brokerSettings(place))
    .map(([name, value]) => `${name}=${escapeProperty(String(value))}\n`)
    .join('');
}

/** Property files are Latin-1 with backslash escapes: a folder such as /home/josé needs them. */
function escapeProperty(value: string): string {
  return value
    .replaceAll('\\', '\\\\')
    .replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
