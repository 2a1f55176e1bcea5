import { testMongoUri } from '@webhooks/local';
import mongoose from 'mongoose';
import { Closers, HealthBoard, NO_TRACING, Registry, readSettings } from '@webhooks/runtime';
import { openDatabase } from '../../../src/database.js';
import type { Database } from '../../../src/database.js';
import { readRetention } from '../../../src/config.js';

export interface TestDatabase {
  readonly database: Database;
  /** Calls back for each statement, until it is closed. */
  onCommand(listener: (sent: { readonly command: Readonly<Record<string, unknown>> }) => void): void;
  close(): Promise<void>;
}

const RETENTION = readSettings({}, readRetention);

/** The database of this service as one instance opens it. */
export async function openTestDatabase(name: string, retention = RETENTION): Promise<TestDatabase> {
  const silent = () => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const closers = new Closers();
  const uri = testMongoUri(name);
  const database = await openDatabase(
    // Without it the driver tells of no statement.
    { uri: `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`, database: name, uriFile: undefined },
    retention,
    {
      log,
      registry: new Registry(),
      health: new HealthBoard(),
      onClose: (what, close) => closers.add(what, close),
      addPage: silent,
      tracing: NO_TRACING,
      fail: silent,
    },
  );
  if (!database.models()) throw new Error('expected the database of the tests to be there');
  return {
    database,
    onCommand: (listener) => {
      for (const connection of mongoose.connections)
        if (connection.name === name) connection.getClient().on('commandStarted', listener);
    },
    close: async () => {
      await closers.closeAll(log, 10_000);
    },
  };
}
