import type { DelayedSourceOptions, DelayedSource } from './delayed-source-types.js';

export function openDelayedSource(options: DelayedSourceOptions): Promise<DelayedSource> {
  return Promise.reject(new Error(`not yet: ${options.kafka.clientId}`));
}
