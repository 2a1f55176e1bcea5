// Internal parts of kafkajs that this package uses, for version 2.2.4 only (see `patch-kafkajs.ts`). Never exported.
declare module 'kafkajs/src/loggers/index.js' {
  export interface KafkajsLogger {
    namespace(name: string): KafkajsLogger;
  }
  interface Loggers {
    createLogger(options: {
      level: number;
      logCreator: () => (entry: {
        namespace: string;
        /** The level, such as `WARN`. */
        label: string;
        log: { message: string; [field: string]: unknown };
      }) => void;
    }): KafkajsLogger;
  }
  const loggers: Loggers;
  export default loggers;
}

declare module 'kafkajs/src/broker/saslAuthenticator/index.js' {
  import type Connection from 'kafkajs/src/network/connection.js';

  class SASLAuthenticator {
    connection: Connection;
    authenticate: (this: SASLAuthenticator) => Promise<void>;
  }
  export default SASLAuthenticator;
}

declare module 'kafkajs/src/broker/saslAuthenticator/plain.js' {
  import type { AuthenticationProviderArgs, Authenticator } from 'kafkajs';
  /** `sasl`: what is sent at an authentication. */
  export default function provider(sasl: {
    username: string;
    password: string;
  }): (args: AuthenticationProviderArgs) => Authenticator;
}
declare module 'kafkajs/src/broker/saslAuthenticator/scram256.js' {
  export { default } from 'kafkajs/src/broker/saslAuthenticator/plain.js';
}
declare module 'kafkajs/src/broker/saslAuthenticator/scram512.js' {
  export { default } from 'kafkajs/src/broker/saslAuthenticator/plain.js';
}

declare module 'kafkajs/src/network/requestQueue/index.js' {
  export interface QueuedRequest {
    sentAt: number;
    requestTimeout: number;
    timeoutRequest(): void;
  }
  class RequestQueue {
    pending: unknown[];
    inflight: Map<number, QueuedRequest>;
    requestTimeout: number;
    throttledUntil: number;
    throttleCheckTimeoutId: NodeJS.Timeout | null;
    requestTimeoutIntervalId?: NodeJS.Timeout;
    enforceRequestTimeout: boolean;
    isConnected(): boolean;
    destroy(): void;
    checkPendingRequests(): void;
    scheduleCheckPendingRequests(): void;
    scheduleRequestTimeoutCheck(): void;
    fulfillRequest: (this: RequestQueue, response: unknown) => void;
    constructor(options: Record<string, unknown>);
  }
  export default RequestQueue;
}

declare module 'kafkajs/src/network/connection.js' {
  import type { Socket } from 'node:net';
  import type { ProtocolRequest } from 'kafkajs/src/cluster/index.js';

  class Connection {
    socket?: Socket;
    /** Received bytes of an incomplete response. */
    chunks: Buffer[];
    bytesBuffered: number;
    bytesNeeded: number;
    isConnected(): boolean;
    connect: (this: Connection) => Promise<boolean>;
    processData: (this: Connection, bytes: Buffer) => void;
    constructor(options: Record<string, unknown>);
    send: <T>(this: Connection, request: ProtocolRequest<T>) => Promise<T>;
    disconnect(): Promise<boolean>;
  }
  export default Connection;
}

declare module 'kafkajs/src/protocol/requests/metadata/v6/response.js' {
  export interface MetadataResponse {
    topicMetadata: { topicErrorCode: number; partitionMetadata: { partitionErrorCode: number }[] }[];
  }
  const response: { parse: (decoded: MetadataResponse) => Promise<MetadataResponse> };
  export default response;
}

declare module 'kafkajs/src/protocol/error.js' {
  /** Whether an error code means an error: false for 0. */
  export function failure(errorCode: number): boolean;
  /** `retriable`: a later request may succeed. */
  export function createErrorFromCode(errorCode: number): Error & { type: string; retriable: boolean };
}

declare module 'kafkajs/src/cluster/index.js' {
  import type { Socket } from 'node:net';
  import type { KafkajsLogger } from 'kafkajs/src/loggers/index.js';

  /** The argument of `Connection.send`: a request that encodes itself and a response that decodes itself. */
  export interface ProtocolRequest<T> {
    request: {
      apiKey: number;
      apiVersion: number;
      apiName: string;
      encode(): Promise<{ buf: Buffer; buffer: Buffer }>;
    };
    response: {
      decode(payload: Buffer): Promise<T>;
      parse(decoded: T): Promise<T>;
    };
    requestTimeout?: number;
    logResponseError?: boolean;
  }

  export interface Broker {
    connectionPool: {
      pool: { socket?: Socket }[];
      send<T>(request: ProtocolRequest<T>): Promise<T>;
    };
    findGroupCoordinator(request: {
      groupId: string;
      /** 0: of a group. */
      coordinatorType: 0;
    }): Promise<{ coordinator: { nodeId: number } }>;
    describeGroups(request: {
      groupIds: string[];
    }): Promise<{ groups: { members: { memberId: string; clientId: string }[] }[] }>;
    leaveGroup(request: { groupId: string; memberId: string }): Promise<unknown>;
    metadata(topics: string[]): Promise<{
      topicMetadata: { topic: string; partitionMetadata: PartitionMetadata[] }[];
    }>;
    offsetFetch(request: {
      groupId: string;
      topics: { topic: string; partitions: { partition: number }[] }[];
    }): Promise<{
      responses: {
        topic: string;
        partitions: { partition: number; offset: string; metadata: string | null }[];
      }[];
    }>;
    offsetCommit(request: {
      groupId: string;
      groupGenerationId: number;
      memberId: string;
      topics: { topic: string; partitions: { partition: number; offset: string; metadata?: string }[] }[];
    }): Promise<unknown>;
  }

  export interface PartitionMetadata {
    partitionId: number;
    leader: number;
  }

  export interface SocketOptions {
    host: string;
    port: number;
    onConnect: () => void;
  }

  class Cluster {
    brokerPool: { findConnectedBroker(): Promise<Broker> };
    /** Isolation level of fetches and of end offsets. */
    isolationLevel: number;
    constructor(options: {
      logger: KafkajsLogger;
      instrumentationEmitter: { emit(event: string, payload: { readonly apiName?: string }): void };
      socketFactory: (options: SocketOptions) => Socket;
      brokers: readonly string[];
      sasl?: object | undefined;
      clientId: string;
      connectionTimeout: number;
      requestTimeout: number;
      enforceRequestTimeout: boolean;
      metadataMaxAge: number;
      retry: { retries: number; initialRetryTime: number; maxRetryTime: number };
      allowAutoTopicCreation: boolean;
      isolationLevel: number;
    });
    connect(): Promise<void>;
    disconnect(): Promise<void>;
    refreshMetadata(): Promise<void>;
    refreshMetadataIfNecessary(): Promise<void>;
    addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
    findBroker(options: { nodeId: number }): Promise<Broker>;
    findGroupCoordinator(options: { groupId: string }): Promise<Broker>;
    findTopicPartitionMetadata(topic: string): PartitionMetadata[];
    fetchTopicsOffset(
      topics: { topic: string; partitions: { partition: number }[]; fromTimestamp: number }[],
    ): Promise<{ topic: string; partitions: { partition: number; offset: string }[] }[]>;
  }
  export default Cluster;
}

declare module 'kafkajs/src/admin/index.js' {
  import type { Admin } from 'kafkajs';
  import type Cluster from 'kafkajs/src/cluster/index.js';
  import type { KafkajsLogger } from 'kafkajs/src/loggers/index.js';
  /** kafkajs' public admin client, on the given cluster's connections. */
  export default function createAdmin(options: {
    cluster: Cluster;
    logger: KafkajsLogger;
    retry: { retries: number };
  }): Admin;
}

declare module 'kafkajs/src/consumer/consumerGroup.js' {
  import type Cluster from 'kafkajs/src/cluster/index.js';
  import type { KafkajsLogger } from 'kafkajs/src/loggers/index.js';

  export interface GroupMember {
    memberId: string;
    memberMetadata: Buffer;
  }
  export interface Assigner {
    name: string;
    version: number;
    protocol(subscription: { topics: string[] }): { name: string; metadata: Buffer };
    assign(group: {
      members: GroupMember[];
      topics: string[];
    }): Promise<{ memberId: string; memberAssignment: Buffer }[]>;
  }
  class ConsumerGroup {
    memberId: string | null;
    generationId: number | null;
    topicsSubscribed: string[];
    constructor(options: {
      retry: object;
      cluster: Cluster;
      groupId: string;
      topics: string[];
      topicConfigurations: Record<string, { fromBeginning: boolean }>;
      logger: KafkajsLogger;
      instrumentationEmitter: { emit(name: string, payload?: unknown): void };
      assigners: Assigner[];
      sessionTimeout: number;
      rebalanceTimeout: number;
      autoCommit: boolean;
    });
    joinAndSync(): Promise<void>;
    leave(): Promise<void>;
    assigned(): { topic: string; partitions: number[] }[];
    checkForStaleAssignment(): void;
    /** Sends a heartbeat unless the last one is younger than `interval` milliseconds. */
    heartbeat(options: { interval: number }): Promise<void>;
    commitOffsets(offsets: {
      topics: { topic: string; partitions: { partition: number; offset: string; metadata: string }[] }[];
    }): Promise<void>;
  }
  export default ConsumerGroup;
}

declare module 'kafkajs/src/consumer/assignerProtocol.js' {
  interface AssignerProtocol {
    MemberMetadata: {
      encode(metadata: { version: number; topics: string[]; userData?: Buffer }): Buffer;
      decode(buffer: Buffer): { version: number; topics: string[]; userData: Buffer | null };
    };
    MemberAssignment: {
      encode(assignment: { version: number; assignment: Record<string, number[]> }): Buffer;
    };
  }
  const protocol: AssignerProtocol;
  export default protocol;
}

declare module 'snappyjs' {
  interface Snappy {
    uncompress(compressed: Buffer, maxLength?: number): Uint8Array<ArrayBuffer>;
  }
  const snappy: Snappy;
  export default snappy;
}
