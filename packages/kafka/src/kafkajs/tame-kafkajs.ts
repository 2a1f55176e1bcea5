import { createRequire } from 'node:module';
import Connection from 'kafkajs/src/network/connection.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import metadata, { type MetadataResponse } from 'kafkajs/src/protocol/requests/metadata/v6/response.js';
import { asError } from '../faults.js';

const VERSION = '2.2.4';
const THROTTLE_CHECK_MS = 10;
const TIMEOUT_CHECK_MS = 1_000;

/**
 * kafkajs 2.2.4 arms a timer after each response although nothing is pending, with a negative delay (Node 24 warns
 * `TimeoutNegativeWarning` and uses 1 ms): about 900 wake-ups a second for each idle socket; and it looks for timed-out
 * requests ten times a second. Both methods are replaced: a timer only while something waits, and one look a second.
 */
function scheduleCheckPendingRequests(this: RequestQueue): void {
  if (this.pending.length === 0 || this.throttleCheckTimeoutId !== null) return;
  const delayMs = Math.max(this.throttledUntil - Date.now(), THROTTLE_CHECK_MS);
  this.throttleCheckTimeoutId = setTimeout(() => {
    this.throttleCheckTimeoutId = null;
    this.checkPendingRequests();
  }, delayMs);
}

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

/** A Map that is used for ever keeps each request, and what it sent, until the next full collection. */
function fulfillAndForget(this: RequestQueue, response: unknown): void {
  fulfillRequest.call(this, response);
  if (this.inflight.size === 0) this.inflight = new Map();
}

const connecting = new WeakMap<Connection, Promise<boolean>>();
const connectAnew = Connection.prototype.connect;
const processData = Connection.prototype.processData;

/**
 * Two requests that find a connection lost at the same time would open two sockets and forget the first. And kafkajs
 * keeps what it has of a response when the connection ends in the middle of it: all that the next one brings would be read
 * behind that, so that no response is ever understood again.
 */
function connect(this: Connection): Promise<boolean> {
  let attempt = connecting.get(this);
  if (attempt === undefined) {
    // What comes first is the size of a response, an int32.
    if (!this.isConnected()) Object.assign(this, { chunks: [], bytesBuffered: 0, bytesNeeded: 4 });
    attempt = connectAnew.call(this).finally(() => connecting.delete(this));
    connecting.set(this, attempt);
  }
  return attempt;
}

/**
 * What cannot be a response would be thrown into the socket's event, which ends the process. And the empty rest behind a
 * response is a view of it, which would stay in memory until the next one comes.
 */
function processResponses(this: Connection, bytes: Buffer): void {
  try {
    processData.call(this, bytes);
    if (this.bytesBuffered === 0) this.chunks = [];
  } catch (error) {
    this.socket?.destroy(asError(error));
  }
}

const parseMetadata = metadata.parse;
/** Kafka's LEADER_NOT_AVAILABLE and REPLICA_NOT_AVAILABLE (protocol guide, "Error Codes"). */
const WITHOUT_LEADER = new Set([5, 9]);

/** Kafka's UNKNOWN_TOPIC_OR_PARTITION. */
const UNKNOWN_TOPIC = 3;

/**
 * One partition without a leader (it has -1), or a topic that was deleted, would be an error of all topics that were requested
 * with it.
 */
function parseAllMetadata(decoded: MetadataResponse): Promise<MetadataResponse> {
  for (const partition of decoded.topicMetadata.flatMap(({ partitionMetadata }) => partitionMetadata)) {
    if (WITHOUT_LEADER.has(partition.partitionErrorCode)) partition.partitionErrorCode = 0; // no error
  }
  const topicMetadata = decoded.topicMetadata.filter(
    ({ topicErrorCode }) => topicErrorCode !== UNKNOWN_TOPIC,
  );
  return parseMetadata({ ...decoded, topicMetadata });
}

const installed = createRequire(import.meta.url)('kafkajs/package.json') as { readonly version: string };

/** Applies the overrides, once and only to the version they were written for. */
export function tameKafkajs(version = installed.version): void {
  if (version !== VERSION) {
    throw new Error(
      `packages/kafka is written for kafkajs ${VERSION}, found ${version}: read its request queue, cluster and consumer group again before raising the version`,
    );
  }
  metadata.parse = parseAllMetadata;
  Connection.prototype.connect = connect;
  Connection.prototype.processData = processResponses;
  RequestQueue.prototype.scheduleCheckPendingRequests = scheduleCheckPendingRequests;
  RequestQueue.prototype.scheduleRequestTimeoutCheck = scheduleRequestTimeoutCheck;
  RequestQueue.prototype.fulfillRequest = fulfillAndForget;
}
