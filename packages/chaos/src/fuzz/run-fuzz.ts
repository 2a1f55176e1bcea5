import type { Print } from '@webhooks/ledger';
import type { Batch, Door } from './door.js';
import { DOORS } from './doors.js';
import type { DoorName } from './doors.js';
import { openFuzzWorld } from './fuzz-world.js';
import type { FuzzWorld } from './fuzz-world.js';
import { randomFor } from './mutants/random-for.js';
import { Notes } from './notes.js';

export interface FuzzOptions {
  readonly seed: number;
  readonly doors: readonly DoorName[];
  /** Batches are begun for so long, in milliseconds; each door takes one at least. */
  readonly durationMs: number;
  /** The first input of each door. */
  readonly from: number;
  /** Inputs of one batch, at most. */
  readonly batchSize?: number;
  /** Everything of the run; it is left there. */
  readonly dataDir: string;
  /** Ends the run early, in order. */
  readonly stopping: AbortSignal;
  readonly print: Print;
}

export interface FuzzResult {
  readonly notes: readonly Notes[];
  /** Services that ended by themselves. */
  readonly restarts: readonly string[];
  /** The most memory that each service had, in MiB. */
  readonly memory: ReadonlyMap<string, number>;
}

/** Above what a service takes under load (240 MiB were measured), with the old generation's growth before a collection. */
export const MAX_MEMORY_MIB = 600;
const MEMORY_EVERY_MS = 1_000;

/** A door that cannot judge a batch is a finding too: it ends, and the others go on. */
async function takeBatch(door: Door, batch: Batch, notes: Notes): Promise<void> {
  try {
    await door.take(batch, notes);
  } catch (error) {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    notes.fails(batch.from, `the batch could not be judged: ${what}`);
  }
}

/** Begins batches until the time is over, a door has too many findings, or the run is stopped. */
async function runDoor(door: Door, notes: Notes, options: FuzzOptions): Promise<void> {
  const { seed, durationMs, from, stopping } = options;
  const size = Math.min(door.batchSize, options.batchSize ?? door.batchSize);
  const deadline = performance.now() + durationMs;
  const randomOf = (index: number) => randomFor(seed, door.name, index);
  let next = from;
  do {
    await takeBatch(door, { from: next, to: next + size, randomOf }, notes);
    next += size;
  } while (performance.now() < deadline && !notes.isFull && !stopping.aborted);
}

/** Looks at the memory of all services until it is stopped; the highest of each stays. */
function watchMemory(world: FuzzWorld, highest: Map<string, number>): () => void {
  const look = (): void => {
    for (const [name, mib] of world.memory()) highest.set(name, Math.max(highest.get(name) ?? 0, mib));
  };
  const timer = setInterval(look, MEMORY_EVERY_MS);
  return () => clearInterval(timer);
}

async function openDoors(world: FuzzWorld, names: readonly DoorName[], opened: Door[]): Promise<void> {
  for (const name of names) opened.push(await DOORS[name](world));
}

async function run(world: FuzzWorld, options: FuzzOptions): Promise<FuzzResult> {
  const doors: Door[] = [];
  const memory = new Map<string, number>();
  const unwatch = watchMemory(world, memory);
  try {
    await openDoors(world, options.doors, doors);
    options.print(`· seed ${options.seed}: ${options.doors.join(', ')} from input ${options.from}`);
    const notes = doors.map(({ name }) => new Notes(name));
    const runs = doors.map((door, at) => runDoor(door, notes[at] ?? new Notes(door.name), options));
    await Promise.all(runs);
    return { notes, restarts: world.restarts, memory };
  } finally {
    unwatch();
    for (const door of doors) await door.close();
  }
}

/** One run from an empty world: every door at once, against the same services. Everything that was started is stopped. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzResult> {
  const world = await openFuzzWorld(options.dataDir, options.print);
  try {
    return await run(world, options);
  } finally {
    await world.stop();
  }
}
