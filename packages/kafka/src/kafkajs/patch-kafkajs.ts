import { createRequire } from 'node:module';
import SASLAuthenticator from 'kafkajs/src/broker/saslAuthenticator/index.js';
import Connection from 'kafkajs/src/network/connection.js';
import type { ProtocolRequest } from 'kafkajs/src/cluster/index.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import metadata, { type MetadataResponse } from 'kafkajs/src/protocol/requests/metadata/v6/response.js';
import { asError } from '../faults.js';

const VERSION = '2.2.4';
const THROTTLE_CHECK_MS = 10;
const TIMEOUT_CHECK_MS = 1_000;

/**
 * Starts a timer only while requests are pending. kafkajs 2.2.4 starts one after each response, with a negative
 * delay. That is about 900 wake-ups a second for each idle socket (Node 24 warns `TimeoutNegativeWarning` and uses 1
 * ms).
 */
function scheduleCheckPendingRequests(this: RequestQueue): void {
  if (this.pending.length === 0 || this.throttleCheckTimeoutId !== null) return;
  const delayMs = Math.max(this.throttledUntil - Date.now(), THROTTLE_CHECK_MS);
  this.throttleCheckTimeoutId = setTimeout(() => {
    this.throttleCheckTimeoutId = null;
    this.checkPendingRequests();
  }, delayMs);
}

/** Checks for timed-out requests once a second. kafkajs checks ten times a second. */
function scheduleRequestTimeoutCheck(this: RequestQueue): void {
  if (!this.enforceRequestTimeout) return;
  this.destroy();
  this.requestTimeoutIntervalId = setInterval(
    () => {
      for (const request of this.inflight.values()) {
        if (Date.now() - request.sentAt > request.requestTimeout) request.timeoutRequest();
      }
      if (!this.isConnected()) this.destroy();
    },
    Math.min(this.requestTimeout, TIMEOUT_CHECK_MS),
  );
}

const fulfillRequest = RequestQueue.prototype.fulfillRequest;

/**
 * Creates a new Map when no request is in flight. The old one would keep each request and its bytes in memory until
 * the next full garbage collection.
 */
function fulfillAndRelease(this: RequestQueue, response: unknown): void {
  fulfillRequest.call(this, response);
  if (this.inflight.size === 0) this.inflight = new Map();
}

const connecting = new WeakMap<Connection, Promise<boolean>>();
const originalConnect = Connection.prototype.connect;
const processData = Connection.prototype.processData;

/**
 * Connects once for all requests that find the connection lost: kafkajs would open a socket for each and forget the
 * first. It also drops an incomplete response of the old connection. Otherwise kafkajs would append the new
 * connection's bytes to it, and could parse no response any more.
 */
function connect(this: Connection): Promise<boolean> {
  let attempt = connecting.get(this);
  if (attempt === undefined) {
    // A response begins with its size, an int32.
    if (!this.isConnected()) Object.assign(this, { chunks: [], bytesBuffered: 0, bytesNeeded: 4 });
    attempt = originalConnect.call(this).finally(() => connecting.delete(this));
    connecting.set(this, attempt);
  }
  return attempt;
}

/**
 * Closes a socket whose bytes cannot be parsed as a response. kafkajs would throw in the socket's event, which ends
 * the process. It also drops the empty view that remains after a response, because the view would keep the response
 * in memory until the next one.
 */
function processResponses(this: Connection, bytes: Buffer): void {
  try {
    processData.call(this, bytes);
    if (this.bytesBuffered === 0) this.chunks = [];
  } catch (error) {
    this.socket?.destroy(asError(error));
  }
}

const { send } = Connection.prototype;

/**
 * Closes the socket of a request that has no response in time. kafkajs would keep it, and choose that broker again for
 * requests that any broker can answer.
 */
async function sendOrClose<T>(this: Connection, request: ProtocolRequest<T>): Promise<T> {
  try {
    return await send.call<Connection, [ProtocolRequest<T>], Promise<T>>(this, request);
  } catch (error) {
    if (asError(error).name === 'KafkaJSRequestTimeoutError') this.socket?.destroy(asError(error));
    throw error;
  }
}

const authenticate = SASLAuthenticator.prototype.authenticate;

/**
 * Closes the socket after a failed authentication. kafkajs would leave it open, and no later request on it could
 * authenticate: the broker is in the middle of the first.
 */
async function authenticateOrClose(this: SASLAuthenticator): Promise<void> {
  try {
    await authenticate.call(this);
  } catch (error) {
    this.connection.socket?.destroy(asError(error));
    throw error;
  }
}

const parseMetadata = metadata.parse;
/** Kafka's LEADER_NOT_AVAILABLE and REPLICA_NOT_AVAILABLE (protocol guide, "Error Codes"). */
const WITHOUT_LEADER = new Set([5, 9]);

/** Kafka's UNKNOWN_TOPIC_OR_PARTITION and TOPIC_AUTHORIZATION_FAILED. */
const [UNKNOWN_TOPIC, NO_RIGHT] = [3, 29];

/**
 * Parses metadata without failing for a single topic. A partition without a leader keeps the leader -1. A deleted topic
 * is left out, and so is one without a right while others remain. kafkajs would throw for all topics of the request.
 */
function parseAllMetadata(decoded: MetadataResponse): Promise<MetadataResponse> {
  for (const partition of decoded.topicMetadata.flatMap(({ partitionMetadata }) => partitionMetadata)) {
    if (WITHOUT_LEADER.has(partition.partitionErrorCode)) partition.partitionErrorCode = 0; // no error
  }
  const known = decoded.topicMetadata.filter(({ topicErrorCode }) => topicErrorCode !== UNKNOWN_TOPIC);
  const permitted = known.filter(({ topicErrorCode }) => topicErrorCode !== NO_RIGHT);
  return parseMetadata({ ...decoded, topicMetadata: permitted.length > 0 ? permitted : known });
}

const installed = createRequire(import.meta.url)('kafkajs/package.json') as { readonly version: string };

/** Applies the overrides to kafkajs. Throws for any other version than the one they were written for. */
export function patchKafkajs(version = installed.version): void {
  if (version !== VERSION) {
    throw new Error(
      `packages/kafka is written for kafkajs ${VERSION}, found ${version}: read its request queue, cluster and consumer group again before raising the version`,
    );
  }
  metadata.parse = parseAllMetadata;
  SASLAuthenticator.prototype.authenticate = authenticateOrClose;
  Connection.prototype.connect = connect;
  Connection.prototype.processData = processResponses;
  Connection.prototype.send = sendOrClose;
  RequestQueue.prototype.scheduleCheckPendingRequests = scheduleCheckPendingRequests;
  RequestQueue.prototype.scheduleRequestTimeoutCheck = scheduleRequestTimeoutCheck;
  RequestQueue.prototype.fulfillRequest = fulfillAndRelease;
}
