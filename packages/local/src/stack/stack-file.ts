import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RECORD_FORMAT } from '@webhooks/contracts';
import { ownerOf, writeOwner } from '../engine/folders.js';
import type { DevelopmentClient } from '../issuer/issuer-configuration.js';

/** Throws when the folder has records of another format. Writes the current format into a new folder. */
export function checkFormat(dataDir: string): void {
  const file = join(dataDir, 'format');
  if (!existsSync(join(dataDir, 'secrets.json'))) writeFileSync(file, RECORD_FORMAT);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== RECORD_FORMAT)
    throw new Error(`${dataDir} was written by another version of this project: delete it`);
}

/** Interval of checks whether the data folder is still there. */
const LOOK_MS = 250;

/**
 * Claims a data folder for this process. Throws when another process uses it. Returns a function that releases it, and removes
 * `stack.json`. Calls `onLost` once when the folder is deleted before.
 */
export function claimDataDir(dataDir: string, onLost: (fault: Error) => void): () => void {
  const file = join(dataDir, 'pid');
  const owner = ownerOf(file);
  if (owner !== undefined)
    throw new Error(`another stack is running on ${dataDir} (process ${owner}); stop it with: kill ${owner}`);
  rmSync(file, { force: true });
  writeOwner(file, process.pid, 'wx');
  const isOurs = () => ownerOf(file) === process.pid;
  const watch = setInterval(() => {
    if (isOurs()) return;
    clearInterval(watch);
    onLost(new Error(`${dataDir} was deleted while its stack ran: the stack ends`));
  }, LOOK_MS);
  return () => {
    clearInterval(watch);
    if (!isOurs()) return;
    rmSync(fileIn(dataDir), { force: true });
    rmSync(file);
  };
}

/** Addresses, clients and processes of a running stack, for programs that use it. */
export interface StackDescription {
  readonly configApi: string;
  readonly ingest: string;
  /** Null while query-api does not run. */
  readonly queryApi: string | null;
  /** Null while the console does not run. */
  readonly console: string | null;
  readonly kafkaBrokers: readonly string[];
  readonly mongodbUri: string;
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly clients: readonly DevelopmentClient[];
  /** A certificate for `localhost` that deliveries trust, and the authority that signed it. */
  readonly tls: { readonly caFile: string; readonly certFile: string; readonly keyFile: string };
  /** Admin servers of the services and their further processes, by name. */
  readonly admin: Readonly<Record<string, string>>;
  /** Process ids by name; an engine that this stack did not start has none. */
  readonly processes: Readonly<Record<string, number>>;
}

const fileIn = (dataDir: string): string => join(dataDir, 'stack.json');

/** Writes `stack.json` atomically, readable by its owner only, because it holds client secrets. */
export function writeStackFile(dataDir: string, description: StackDescription): void {
  const file = fileIn(dataDir);
  writeFileSync(`${file}.new`, `${JSON.stringify(description, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
