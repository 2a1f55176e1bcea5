import type { Logger } from './log.js';

export interface KafkaSasl {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: string;
}

export interface KafkaTls {
  /** Certificate authorities as PEM; the system's when absent. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface KafkaOptions {
  /** `host:port`, at least one. */
  readonly brokers: readonly string[];
  /** No two live processes have the same: who opens a source takes the place of its namesake in the group. */
  readonly clientId: string;
  readonly log?: Logger;
  readonly tls?: KafkaTls | boolean;
  readonly sasl?: KafkaSasl;
}
