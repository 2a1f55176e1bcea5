import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { NotNow } from '../fault.js';

const run = promisify(execFile);

/** Engines, by the name of the process, and the folder of each below the run's. */
export const ENGINES = ['kafka', 'mongodb'] as const;
export type EngineName = (typeof ENGINES)[number];

/** In memory, as far as it is used; a run of half an hour writes less. */
const SIZE_MIB = 768;
const MOUNT_MS = 10_000;
const CHUNK = Buffer.alloc(1_048_576);
const FILLER = 'filler';
/** A process that was just killed still has its files open for some milliseconds. */
const BUSY_MS = 3_000;
const LOOK_MS = 20;

/** A small file system for the data of each engine, to be filled and made read-only. */
export interface Disks {
  /** Leaves not a byte. */
  fill(engine: EngineName): Promise<void>;
  makeRoom(engine: EngineName): void;
  /** Works only while nobody writes to it: tries for 3 s, then rejects. */
  makeReadOnly(engine: EngineName): Promise<void>;
  makeWritable(engine: EngineName): Promise<void>;
  close(): Promise<void>;
}

/** Throws `NotNow` where a run has none. */
export function disksOf({ disks }: { readonly disks: Disks | undefined }): Disks {
  if (!disks) throw new NotNow('the engines have no disks of their own, which takes root and Linux');
  return disks;
}

const isFull = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOSPC';

/** False when there is no room for so many bytes. */
async function fits(filler: FileHandle, bytes: number): Promise<boolean> {
  try {
    await filler.write(CHUNK, 0, bytes);
    return true;
  } catch (error) {
    if (isFull(error)) return false;
    throw error;
  }
}

/** Chunks first, then bytes: the end comes at the size of the disk at the latest. */
async function fillUp(file: string): Promise<void> {
  const filler = await open(file, 'a');
  try {
    for (let bytes = CHUNK.length; bytes >= 1;)
      if (!(await fits(filler, bytes))) bytes = Math.floor(bytes / 16);
  } finally {
    await filler.close();
  }
}

const mount = (...args: readonly string[]) => run('mount', args, { timeout: MOUNT_MS });

async function makeReadOnly(folder: string): Promise<void> {
  const deadline = performance.now() + BUSY_MS;
  for (;;)
    try {
      await mount('-o', 'remount,ro', folder);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(LOOK_MS);
    }
}

/** Linux only, and only for one who may mount. Rejects otherwise, with nothing mounted. */
export async function openDisks(dataDir: string): Promise<Disks> {
  const folderOf = (engine: EngineName): string => join(dataDir, engine);
  const mounted: string[] = [];
  const close = async (): Promise<void> => {
    // Lazily: who still has a file open keeps it, and nothing is left in the tree.
    for (const folder of mounted.splice(0)) await run('umount', ['--lazy', folder], { timeout: MOUNT_MS });
  };
  try {
    for (const folder of ENGINES.map(folderOf)) {
      mkdirSync(folder, { recursive: true });
      await mount('-t', 'tmpfs', '-o', `size=${SIZE_MIB}m,mode=0700`, 'webhooks-chaos', folder);
      mounted.push(folder);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    fill: (engine) => fillUp(join(folderOf(engine), FILLER)),
    makeRoom: (engine) => rmSync(join(folderOf(engine), FILLER), { force: true }),
    makeReadOnly: (engine) => makeReadOnly(folderOf(engine)),
    makeWritable: async (engine) => {
      await mount('-o', 'remount,rw', folderOf(engine));
    },
    close,
  };
}
