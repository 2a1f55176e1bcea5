import { waitOrStop } from '../plan.js';
import { movedPath, planConfigurations } from '../world/configurations.js';
import type { Configuration } from '../world/configurations.js';
import type { World } from '../world/world.js';
import { isServiceUnavailable } from './generator.js';

/** A change that was requested from config-api for one configuration. */
type Requested =
  { readonly what: 'disable' | 'enable' | 'rotate' } | { readonly what: 'move'; readonly path: string };

/** One change, as its requester saw it. Times are Unix milliseconds. */
export interface Change {
  readonly ref: string;
  readonly requested: Requested;
  readonly requestedAt: number;
  /** Absent: no response, or an error. The change may still have been made. */
  readonly respondedAt?: number;
  /** False: durable, but not yet published at the time of the response. */
  readonly published?: boolean;
  /** The new secret of a rotation. */
  readonly secret?: string;
}

/** A change that got its response and is in force one second later. */
export type MadeChange = Change & { readonly respondedAt: number };

export const isMade = (change: Change): change is MadeChange =>
  change.respondedAt !== undefined && change.published !== false;

interface ChangerOptions {
  readonly world: Pick<World, 'clientOf' | 'receivers'>;
  /** Called with every change, once it got a response or failed. */
  readonly onChange: (change: Change) => void;
  /** When the run ends, milliseconds of `performance.now()`. */
  readonly until: number;
  readonly stopping: AbortSignal;
}

const PAUSE_MS = 4_000;
/**
 * How long a toggled configuration stays enabled, also at the end of a run. It is in force after 1 s, and an event is read within 5 s
 * (`READ_MS` in `owed.ts`). So events that are sent in between are certainly owed, and a loss is found.
 */
const ENABLED_MS = 15_000;

async function request(
  { ref, tenantId, eventType, receiver, path }: Configuration,
  requested: Requested,
  { world }: ChangerOptions,
): Promise<Pick<Change, 'published' | 'secret'>> {
  const client = world.clientOf(tenantId);
  if (requested.what === 'rotate') {
    const { secret, published } = await client.rotateSecret(ref);
    return { secret, published: published !== false };
  }
  const endpointUrl = `${world.receivers[receiver].origin}${requested.what === 'move' ? requested.path : path}`;
  const enabled = requested.what !== 'disable';
  const { published } = await client.update({ ref, eventType, endpointUrl, enabled });
  return { published: published !== false };
}

async function change(
  configuration: Configuration,
  requested: Requested,
  options: ChangerOptions,
): Promise<Change> {
  const about = { ref: configuration.ref, requested, requestedAt: Date.now() };
  let made: Change = about;
  try {
    made = { ...about, ...(await request(configuration, requested, options)), respondedAt: Date.now() };
  } catch (error) {
    // The change may or may not have been made. Any other response is a bug.
    if (!isServiceUnavailable(error)) throw error;
  }
  options.onChange(made);
  return made;
}

/**
 * Disables and enables a configuration in turn. An enable is repeated until it succeeds, because a failed disable may still have been made.
 */
async function toggle(configuration: Configuration, options: ChangerOptions): Promise<void> {
  const isOn = (): boolean => !options.stopping.aborted;
  while (isOn() && performance.now() + PAUSE_MS + ENABLED_MS <= options.until) {
    await change(configuration, { what: 'disable' }, options);
    do await waitOrStop(PAUSE_MS, options.stopping);
    while (isOn() && !isMade(await change(configuration, { what: 'enable' }, options)));
    await waitOrStop(ENABLED_MS, options.stopping);
  }
}

/** Moves a configuration and moves it back, or rotates its secret, until the run ends. A failed change is requested again. */
async function moveOrRotate(configuration: Configuration, options: ChangerOptions): Promise<void> {
  const paths = [movedPath(configuration), configuration.path];
  for (let nth = 0; !options.stopping.aborted;) {
    const path = paths[nth % paths.length] ?? configuration.path;
    const requested: Requested =
      configuration.treatment === 'signed' ? { what: 'rotate' } : { what: 'move', path };
    const { respondedAt } = await change(configuration, requested, options);
    if (respondedAt !== undefined) nth += 1;
    await waitOrStop(PAUSE_MS, options.stopping);
  }
}

/**
 * Changes configurations until the run ends, by their treatment: disables and enables them, moves them and back, or rotates their secrets.
 */
export async function makeChanges(options: ChangerOptions): Promise<void> {
  const treated = planConfigurations().filter(({ treatment }) => treatment !== 'left-alone');
  await Promise.all(
    treated.map((one) => (one.treatment === 'toggled' ? toggle(one, options) : moveOrRotate(one, options))),
  );
}
