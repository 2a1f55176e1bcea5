import type { SourceOptions, Source } from './source-types.js';

export function openSource(options: SourceOptions): Promise<Source> {
  return Promise.reject(new Error(`not yet: ${options.kafka.clientId}`));
}
