import type { End, Fault } from '../fault.js';
import { LINKS } from '../world/world.js';
import type { LinkName, World } from '../world/world.js';
import type { LinkState } from './tcp-proxy.js';

const BROKER = 'kafka';
const isLink = (name: string): name is LinkName => LINKS.some((link) => link === name);

/** A link by its name; `kafka` stands for all that lead to the broker. */
const linksOf = (target: string): readonly LinkName[] =>
  isLink(target) ? [target] : LINKS.filter((name) => name !== 'mongodb');

/** A fault of the network between services and engines. */
export function spoilLinks(about: Pick<Fault, 'name' | 'lasts'>, state: LinkState): Fault {
  const begin = (target: string, world: World): Promise<End> => {
    const links = linksOf(target).map((name) => world.links[name]);
    for (const link of links) link.become(state);
    return Promise.resolve(() => {
      for (const link of links) link.become({ kind: 'open' });
      return Promise.resolve();
    });
  };
  return { ...about, lane: 'system', weight: 1, targets: [BROKER, ...LINKS], begin };
}
