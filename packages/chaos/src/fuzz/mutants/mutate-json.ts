import type { Random } from '@webhooks/testkit';
import { NASTY_JSON, NASTY_TEXTS } from './nasty.js';

type Node = Record<string, unknown>;
/** A place in a JSON value: the object or list that holds it, and its name there. */
interface Spot {
  readonly parent: Node;
  readonly name: string;
}

/** Stands for text that no serialiser writes; no input holds it. */
const MARK = '@@raw@@';

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

function spotsOf(value: unknown): readonly Spot[] {
  if (!isNode(value)) return [];
  return Object.keys(value).flatMap((name) => [{ parent: value, name }, ...spotsOf(value[name])]);
}

/** As an own member, whatever its name: an assignment to `__proto__` would make none. */
function set({ parent, name }: Spot, value: unknown): void {
  Object.defineProperty(parent, name, { value, enumerable: true, configurable: true, writable: true });
}

type Mutation = (spot: Spot, random: Random) => void;

/** Changes of one member; what they leave is still a value. */
const MUTATIONS: readonly [Mutation, ...Mutation[]] = [
  ({ parent, name }) => void Reflect.deleteProperty(parent, name),
  (spot, random) => set(spot, random.pick(NASTY_TEXTS)),
  (spot, random) => set(spot, random.pick(NASTY_TEXTS)),
  (spot) => set(spot, [spot.parent[spot.name]]),
  (spot) => set(spot, { [spot.name]: spot.parent[spot.name] }),
  (spot) => set(spot, String(spot.parent[spot.name]).repeat(2)),
  (spot) => set(spot, String(spot.parent[spot.name]).toLowerCase()),
  (spot) => set(spot, Number(spot.parent[spot.name])),
  ({ parent, name }) => set({ parent, name: name.toUpperCase() }, parent[name]),
  ({ parent }, random) => set({ parent, name: random.pick(NASTY_TEXTS) }, 1),
];

/** Text in the place of one member's value: nothing that a parser has to accept, or the member once more. */
function rawFor({ parent, name }: Spot, random: Random): string {
  if (random.chance(0.7)) return random.pick(NASTY_JSON);
  const own = JSON.stringify(parent[name]);
  return `${own},${JSON.stringify(name)}:${random.chance(0.5) ? own : random.pick(NASTY_JSON)}`;
}

function changeOne(value: unknown, random: Random): void {
  const [first, ...more] = spotsOf(value);
  if (first) random.pick(MUTATIONS)(random.pick([first, ...more]), random);
}

/** JSON text made of a valid value by one to three changes; often still valid, sometimes no JSON at all. */
export function mutateJson(random: Random, value: unknown): string {
  const copy: unknown = JSON.parse(JSON.stringify(value));
  for (let left = random.int(0, 2); left > 0; left -= 1) changeOne(copy, random);
  const [first, ...more] = spotsOf(copy);
  if (!first || random.chance(0.3)) return JSON.stringify(copy);
  const spot = random.pick([first, ...more]);
  const raw = rawFor(spot, random);
  set(spot, MARK);
  // A function: `$` in a replacement's text would have a meaning.
  return JSON.stringify(copy).replace(`"${MARK}"`, () => raw);
}
