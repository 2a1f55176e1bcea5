import type { TableReaderOptions, TableReader } from './table-reader-types.js';

export function openTableReader(options: TableReaderOptions): Promise<TableReader> {
  return Promise.reject(new Error(`not yet: ${options.kafka.clientId}`));
}
