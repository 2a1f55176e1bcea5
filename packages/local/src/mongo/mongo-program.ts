import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../engine/command.js';
import { untilClear, type PollOptions } from '../engine/wait.js';
import { launchEngine, type EngineLaunch } from '../engine/engine-lifecycle.js';
import type { GuardedProcess } from '../engine/guarded-process.js';

const ATTEMPT_MS = 2_000;

/**
 * Waits until the server responds; with `pid`, until that process does. Resolves with undefined, or with the obstacle when the deadline has
 * passed.
 */
export const awaitMongo = (
  uri: string,
  pollOptions: PollOptions,
  pid?: number,
): Promise<string | undefined> => untilClear(() => obstacleOf(uri, pid), pollOptions);

async function obstacleOf(uri: string, pid: number | undefined): Promise<string | undefined> {
  // Loaded on demand, because most users of this package start no database.
  const { MongoClient } = await import('mongodb');
  const client = new MongoClient(uri, {
    serverSelectionTimeoutMS: ATTEMPT_MS,
    connectTimeoutMS: ATTEMPT_MS,
  });
  try {
    // A ping needs no rights at a server that somebody named.
    const status = await client.db('admin').command(pid === undefined ? { ping: 1 } : { serverStatus: 1 });
    return pid === undefined || Number(status['pid']) === pid ? undefined : 'another server has the port';
  } catch (error) {
    return errorText(error);
  } finally {
    await client.close();
  }
}

interface MongoPlace {
  readonly port: number;
  readonly dataFolder: string;
  readonly configPath: string;
}

/** A program that speaks MongoDB's protocol, and how to start it. */
export interface MongoProgram extends Pick<EngineLaunch, 'title' | 'command' | 'env'> {
  /** Also the name of its folder below the data folder: two programs never open each other's files. */
  readonly name: 'secantus' | 'mongod';
  readonly configFile: { readonly name: string; readonly text: string };
  args(place: MongoPlace): string[];
}

/**
 * Returns the connection string of one server without a replica set. Retryable writes are off: with them SecantusDB's writes become 15
 * times slower over time.
 */
export const embeddedUri = (port: number): string =>
  `mongodb://127.0.0.1:${port}/?directConnection=true&retryWrites=false&serverMonitoringMode=poll`;

/** Starts the program and resolves when it is ready. */
export async function launchMongo(
  program: MongoProgram,
  folder: string,
  port: number,
): Promise<GuardedProcess> {
  const dataFolder = join(folder, program.name);
  await mkdir(dataFolder, { recursive: true });
  const configPath = join(folder, program.configFile.name);
  await writeFile(configPath, program.configFile.text);
  return launchEngine({
    ...program,
    folder,
    logName: 'mongo.log',
    args: program.args({ port, dataFolder, configPath }),
    awaitReady: (pollOptions, pid) => awaitMongo(embeddedUri(port), pollOptions, pid),
  });
}
