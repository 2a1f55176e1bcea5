import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import kafkajs from 'kafkajs';
import Cluster, { type Broker, type SocketOptions } from 'kafkajs/src/cluster/index.js';
import loggers, { type KafkajsLogger } from 'kafkajs/src/loggers/index.js';
import { READ_COMMITTED } from '../wire/protocol.js';
import { noLog, type Logger } from '../logger.js';
import type { Identity, IdentityOptions } from './credentials.js';
export { createErrorFromCode, failure } from 'kafkajs/src/protocol/error.js';
export { default as assignerProtocol } from 'kafkajs/src/consumer/assignerProtocol.js';
export type { Assigner, GroupMember } from 'kafkajs/src/consumer/consumerGroup.js';
import { CONNECT_TIMEOUT_MS, KEEP_ALIVE_MS, REQUEST_TIMEOUT_MS } from '../limits.js';

/** How to connect to a cluster, and how this process appears there. */
export interface KafkaOptions extends IdentityOptions {
  /** `host:port`, at least one. */
  readonly brokers: readonly string[];
  /** Must be unique among live processes. Opening a source removes the group's other member of the same client id. */
  readonly clientId: string;
  /**
   * Format of the records, stored with each commit; default: none. A group that has committed another format is
   * refused.
   */
  readonly format?: string;
  readonly log?: Logger;
  /** Called when a broker has responded to a request, or not in time, with its name in the protocol, such as `Fetch`. Must not throw. */
  readonly onRequest?: (request: string) => void;
}

/**
 * Writes all lines of kafkajs at level debug, because kafkajs logs each lost connection as an error. Callers log
 * their own warnings.
 */
function kafkajsLogger(log: Logger): KafkajsLogger {
  return loggers.createLogger({
    level: kafkajs.logLevel.INFO,
    logCreator:
      () =>
      ({ namespace, label, log: { message } }) =>
        log('debug', `kafkajs: ${message}`, { namespace, severity: label }),
  });
}

/** `host:port`, or an IPv6 address in brackets and a port. */
export const BROKER = /^([^:/[\]]+|\[[\da-f:]+\]):\d{1,5}$/i;
/** Replaces a colon of an IPv6 address, because kafkajs ends a host at its first colon. */
const COLON = '~';
const toKafkajs = (broker: string): string =>
  broker.replace(/^\[(.+)\]/, (_, address: string) => address.replaceAll(':', COLON));

/**
 * One set of connections to the cluster. Each reader and each sink has its own set, because a broker responds in
 * order on a connection.
 */
export class Connections {
  readonly cluster: Cluster;
  readonly log: Logger;
  /** `log` in the form that kafkajs requires. */
  readonly logger: KafkajsLogger;
  /**
   * Maximum age of the metadata, milliseconds. New partitions and moved leaders are found after this time at the
   * latest.
   */
  readonly metadataMaxAgeMs: number;
  readonly #sockets = new Set<Socket>();
  readonly #secureContext: (() => SecureContext) | undefined;
  #closed = false;

  /** Does not connect yet. */
  constructor(
    { brokers, clientId, log = noLog, onRequest }: KafkaOptions,
    identity: Identity,
    metadataMaxAgeMs: number,
  ) {
    this.log = log;
    this.#secureContext = identity.secureContext;
    this.metadataMaxAgeMs = metadataMaxAgeMs;
    this.logger = kafkajsLogger(log);
    this.cluster = new Cluster({
      ...{ brokers: brokers.map(toKafkajs), clientId, sasl: identity.sasl },
      logger: this.logger,
      instrumentationEmitter: { emit: (_event, { apiName }) => apiName && onRequest?.(apiName) },
      socketFactory: (socketOptions) => this.#openSocket(socketOptions),
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      enforceRequestTimeout: true,
      metadataMaxAge: metadataMaxAgeMs,
      retry: { retries: 1, initialRetryTime: 100, maxRetryTime: 1_000 },
      allowAutoTopicCreation: false,
      isolationLevel: READ_COMMITTED,
    });
  }

  #openSocket({ port, onConnect, ...given }: SocketOptions): Socket {
    const host = given.host.replaceAll(COLON, ':');
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const secureContext = this.#secureContext?.();
    const socket = secureContext
      ? connectTls({ host, port, ...servername, secureContext }, onConnect)
      : connectTcp({ host, port }, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.setNoDelay(true);
    this.#sockets.add(socket);
    // kafkajs reconnects once after a lost connection. After `close` that must fail.
    if (this.#closed) socket.destroy(new Error('closed by this process'));
    socket.once('close', () => {
      this.#sockets.delete(socket);
      // kafkajs calls `unref` on a dead socket at each failed attempt, and Node would add a listener each time.
      Object.assign(socket, { unref: () => socket });
      // kafkajs listens only to `end` and `error`. Requests on a socket that closed without either would wait for
      // their timeout.
      if (!socket.readableEnded && !socket.errored)
        socket.emit('error', new Error('the connection was closed'));
    });
    return socket;
  }

  /** Closes all connections within a bounded time. Pending requests are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const socket of this.#sockets) socket.destroy(new Error('closed by this process'));
    await this.cluster.disconnect().catch(() => undefined);
  }
}

/** Closes a broker's connections, which may be dead after a failed request. The next request opens a new socket. */
export function dropConnections(broker: Broker, reason: string): void {
  for (const { socket } of broker.connectionPool.pool) socket?.destroy(new Error(reason));
}
