import type { SinkOptions, Sink } from './sink-types.js';

export function openSink(options: SinkOptions): Promise<Sink> {
  return Promise.reject(new Error(`not yet: ${options.kafka.clientId}`));
}
