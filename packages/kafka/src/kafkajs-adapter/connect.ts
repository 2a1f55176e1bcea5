import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import Cluster from 'kafkajs/src/cluster/index.js';
import loggers, { type KafkajsLogger } from 'kafkajs/src/loggers/index.js';
import type { Broker } from 'kafkajs/src/cluster/index.js';
import type { KafkaOptions } from '../kafka-options.js';
import type { Logger } from '../log.js';
import { READ_COMMITTED } from '../protocol/fetch-protocol.js';

const KEEP_ALIVE_MS = 60_000;
const KAFKAJS_LOG_ALL = 5;
const KAFKAJS_WARN = 2;

export const LIMITS = {
  connectionTimeout: 3_000,
  authenticationTimeout: 10_000,
  reauthenticationThreshold: 10_000,
  requestTimeout: 15_000,
} as const;

/** One set of connections to the cluster. Readers each have their own: a broker responds to a connection in order. */
export interface Link {
  readonly cluster: Cluster;
  readonly logger: KafkajsLogger;
  /** Ends all connections in bounded time: pending requests are rejected. */
  close(): Promise<void>;
}

/** kafkajs speaks of each lost connection as an error; the callers here decide what is worth a warning. */
function kafkajsLogger(log: Logger): KafkajsLogger {
  return loggers.createLogger({
    level: KAFKAJS_LOG_ALL - 1,
    logCreator:
      () =>
      ({ level, namespace, log: { message } }) =>
        log('debug', `kafkajs: ${message}`, { namespace, severity: level <= KAFKAJS_WARN ? 'warn' : 'info' }),
  });
}

function socketTracker(sockets: Set<Socket>, isClosed: () => boolean) {
  return (options: { host: string; port: number; ssl?: object; onConnect: () => void }): Socket => {
    const { host, port, ssl, onConnect } = options;
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const socket = ssl
      ? connectTls({ host, port, ...servername, ...ssl }, onConnect)
      : connectTcp({ host, port }, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.setNoDelay(true);
    sockets.add(socket);
    // kafkajs tries a lost connection once more: not after the end.
    if (isClosed()) socket.destroy(new Error('closed by this process'));
    socket.once('close', () => {
      sockets.delete(socket);
      // kafkajs unrefs a dead socket at each failed attempt, and each time Node adds a listener for its next connect.
      Object.assign(socket, { unref: () => socket });
      // kafkajs only listens to `end` and `error`: a socket that closed without either would leave requests waiting.
      if (!socket.readableEnded && !socket.errored)
        socket.emit('error', new Error('the connection was closed'));
    });
    return socket;
  };
}

/** `metadataMaxAgeMs`: new partitions and moved leaders are noticed after that at the latest. */
export function openLink(options: KafkaOptions & { log: Logger }, metadataMaxAgeMs: number): Link {
  const sockets = new Set<Socket>();
  let closed = false;
  const logger = kafkajsLogger(options.log);
  const cluster = new Cluster({
    ...LIMITS,
    logger,
    socketFactory: socketTracker(sockets, () => closed),
    brokers: options.brokers,
    ssl: options.tls === true ? {} : options.tls || undefined,
    sasl: options.sasl,
    clientId: options.clientId,
    enforceRequestTimeout: true,
    metadataMaxAge: metadataMaxAgeMs,
    retry: { retries: 1, initialRetryTime: 100, maxRetryTime: 1_000 },
    allowAutoTopicCreation: false,
    maxInFlightRequests: null,
    isolationLevel: READ_COMMITTED,
  });
  const close = async () => {
    closed = true;
    for (const socket of sockets) socket.destroy(new Error('closed by this process'));
    await cluster.disconnect().catch(() => undefined);
    for (const socket of sockets) socket.destroy();
  };
  return { cluster, logger, close };
}

/** A request that timed out may mean a connection that is dead without saying so: the next one gets a new socket. */
export function dropConnections(broker: Broker, reason: string): void {
  for (const { socket } of broker.connectionPool.pool) socket?.destroy(new Error(reason));
}
