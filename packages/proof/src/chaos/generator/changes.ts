import { waitOrStop } from '../plan.js';
import { movedPath, planConfigurations } from '../world/configurations.js';
import type { Configuration } from '../world/configurations.js';
import type { World } from '../world/world.js';
import { isServiceUnavailable } from './generator.js';

/** What was requested of config-api for one configuration. */
type Requested =
  { readonly what: 'disable' | 'enable' | 'rotate' } | { readonly what: 'move'; readonly path: string };

/** One change, as whoever requested it saw it. Times are Unix milliseconds. */
export interface Change {
  readonly ref: string;
  readonly requested: Requested;
  readonly requestedAt: number;
  /** Absent: no response, or one that said no. It may have been made all the same. */
  readonly respondedAt?: number;
  /** False: durable, and not published yet when the response came. */
  readonly published?: boolean;
  /** The new secret of a rotation. */
  readonly secret?: string;
}

/** Got its response, and is in force one second later. */
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
 * How long a toggled configuration stays enabled, and is left so at the end of a run. It is in force after 1 s, and an event
 * is read within 5 s (`READ_MS` in `owed.ts`): what is sent in between is surely owed, and is missed when it vanishes.
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
    // Then the change was made, or not; any other response is a bug.
    if (!isServiceUnavailable(error)) throw error;
  }
  options.onChange(made);
  return made;
}

/** What was disabled is enabled until that is in force: a disabling that failed may have been made all the same. */
async function toggle(configuration: Configuration, options: ChangerOptions): Promise<void> {
  const isOn = (): boolean => !options.stopping.aborted;
  while (isOn() && performance.now() + PAUSE_MS + ENABLED_MS <= options.until) {
    await change(configuration, { what: 'disable' }, options);
    do await waitOrStop(PAUSE_MS, options.stopping);
    while (isOn() && !isMade(await change(configuration, { what: 'enable' }, options)));
    await waitOrStop(ENABLED_MS, options.stopping);
  }
}

/** Moved and moved back, or a new secret, again and again; what failed is requested again. */
async function repeat(configuration: Configuration, options: ChangerOptions): Promise<void> {
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

/** Changes what may be changed until the run ends: disabled and enabled, moved and moved back, a new secret. */
export async function makeChanges(options: ChangerOptions): Promise<void> {
  const treated = planConfigurations().filter(({ treatment }) => treatment !== 'left-alone');
  await Promise.all(
    treated.map((one) => (one.treatment === 'toggled' ? toggle(one, options) : repeat(one, options))),
  );
}
