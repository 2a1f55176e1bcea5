import { openAnswersDoor } from './answers/answers-door.js';
import type { Door } from './door.js';
import type { FuzzWorld } from './fuzz-world.js';
import { openConfigApiDoor } from './http/config-api.js';
import { openIngestDoor } from './http/ingest.js';
import { openQueryApiDoor } from './http/query-api.js';
import { openTopicsDoor } from './topics/topics-door.js';

/** All ways into the services, by the name that `--doors` takes. */
export const DOORS = {
  'config-api': openConfigApiDoor,
  ingest: openIngestDoor,
  'query-api': openQueryApiDoor,
  topics: openTopicsDoor,
  answers: openAnswersDoor,
} as const satisfies Record<string, (world: FuzzWorld) => Promise<Door>>;

export type DoorName = keyof typeof DOORS;

const isDoorName = (name: string): name is DoorName => Object.hasOwn(DOORS, name);

/** The doors of a comma-separated list; all for an empty one. Throws with the names that there are. */
export function readDoors(text: string): readonly DoorName[] {
  const all = Object.keys(DOORS).filter(isDoorName);
  const names = text === '' ? all : text.split(',');
  const unknown = names.filter((name) => !isDoorName(name));
  if (unknown.length > 0) throw new Error(`unknown door ${unknown.join(', ')}; there are: ${all.join(', ')}`);
  return names.filter(isDoorName);
}
