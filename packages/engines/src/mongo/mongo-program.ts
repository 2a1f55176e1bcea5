import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rememberEngine } from '../data-folder.js';
import { ANSWER_DEADLINE_MS, READY_DEADLINE_MS } from '../deadline.js';
import { spawnGuarded, type GuardedProcess } from '../guarded-process.js';
import { awaitMongo, selfTestMongo } from './mongo-ready.js';

export interface MongoPlace {
  readonly port: number;
  readonly dataFolder: string;
  readonly configPath: string;
}

/** A program that speaks MongoDB's protocol, and how it is started. */
export interface MongoProgram {
  /** Also the name of its folder below the data folder: two programs never open each other's files. */
  readonly name: 'secantus' | 'mongod';
  readonly title: string;
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  readonly configFile: { readonly name: string; readonly text: string };
  args(place: MongoPlace): string[];
}

/** One server, no replica set, no retryable writes: with them SecantusDB's writes become 15 times slower in time. */
export const embeddedUri = (port: number): string =>
  `mongodb://127.0.0.1:${port}/?directConnection=true&retryWrites=false&serverMonitoringMode=poll`;

/** Starts the program and resolves when it serves and passed the self-test; otherwise ends it and throws. */
export async function launchMongo(
  program: MongoProgram,
  folder: string,
  port: number,
): Promise<GuardedProcess> {
  const dataFolder = join(folder, program.name);
  await mkdir(dataFolder, { recursive: true });
  const configPath = join(folder, program.configFile.name);
  await writeFile(configPath, program.configFile.text);
  const logFile = join(folder, 'mongo.log');
  const database = spawnGuarded(program.command, program.args({ port, dataFolder, configPath }), {
    cwd: folder,
    env: program.env,
    logFile,
    stopGraceMs: ANSWER_DEADLINE_MS,
  });
  await rememberEngine(folder, database.pid);
  const obstacle = await obstacleToServing(database, port);
  if (obstacle === undefined) return database;
  const reason = database.exitReason() ?? obstacle;
  database.kill();
  await database.exited;
  throw new Error(
    `${program.title} did not start (${reason}; whole log: ${logFile}):\n${await database.lastWords()}`,
  );
}

async function obstacleToServing(database: GuardedProcess, port: number): Promise<string | undefined> {
  const givenUp = () => database.exitReason() !== undefined;
  const uri = embeddedUri(port);
  return (await awaitMongo(uri, { deadlineMs: READY_DEADLINE_MS, givenUp })) ?? (await selfTestMongo(uri));
}
