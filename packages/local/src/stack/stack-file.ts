import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RECORD_FORMAT } from '@webhooks/contracts';
import type { DevelopmentClient } from '../issuer/start-issuer.js';

function ownerOf(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

/** Throws when the folder has records of another format. Writes the current format into a new folder. */
function checkFormat(dataDir: string): void {
  const file = join(dataDir, 'format');
  if (!existsSync(join(dataDir, 'secrets.json'))) writeFileSync(file, RECORD_FORMAT);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== RECORD_FORMAT)
    throw new Error(`${dataDir} was written by another version of this project: delete it`);
}

/**
 * Claims a data folder for this process. Throws when another process uses it or another version wrote it. Returns a function that releases
 * it.
 */
export function claimDataDir(dataDir: string): () => void {
  const file = join(dataDir, 'pid');
  const owner = ownerOf(file);
  if (owner !== undefined && owner !== process.pid) {
    throw new Error(`another stack is running on ${dataDir} (process ${owner}); stop it with: kill ${owner}`);
  }
  checkFormat(dataDir);
  writeFileSync(file, String(process.pid));
  return () => rmSync(file, { force: true });
}

/** Addresses, clients and processes of a running stack, for programs that use it. */
export interface StackDescription {
  readonly configApi: string;
  readonly ingest: string;
  /** Null while query-api does not run. */
  readonly queryApi: string | null;
  readonly kafkaBrokers: readonly string[];
  readonly mongodbUri: string;
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly clients: readonly DevelopmentClient[];
  /** A certificate for `localhost` that deliveries trust, and the authority that signed it. */
  readonly tls: { readonly caFile: string; readonly certFile: string; readonly keyFile: string };
  /** Admin servers of the services by name. */
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

/** Removes `stack.json`, if there is one. */
export function removeStackFile(dataDir: string): void {
  rmSync(fileIn(dataDir), { force: true });
}
