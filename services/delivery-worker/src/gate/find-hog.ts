import type { Lane } from './lane.js';

/** What all of them hold together, and how many hold something. */
export interface Holdings {
  readonly held: number;
  readonly lanes: number;
  readonly tenants: number;
}

/** So many times what the others hold on average is more than a fair share. Below it, all are busy alike: nobody gives way. */
const UNFAIR = 4;

function holdsUnfairly(own: number, all: number, holders: number): boolean {
  if (holders < 2) return false;
  const others = (all - own) / (holders - 1);
  return own > UNFAIR * Math.max(others, 1);
}

const mostHeld = <T extends { readonly held: number }>(items: Iterable<T>): T | undefined => {
  let most: T | undefined;
  for (const item of items) if (most === undefined || item.held > most.held) most = item;
  return most;
};

/**
 * Whose queues give way when memory is short: those of the one who holds most (as "longest queue drop" of shared packet
 * buffers, Suter et al., 1998), first by tenant, then by endpoint. Nobody's, when one is alone or all hold about the same:
 * then it is the machine that is slow, parking would only add work, and the source reads on later.
 */
export function findHog(queueing: readonly Lane[], all: Holdings): readonly Lane[] {
  const tenant = mostHeld(new Set(queueing.map((lane) => lane.tenant)));
  if (tenant && holdsUnfairly(tenant.held, all.held, all.tenants))
    return queueing.filter((lane) => lane.tenant === tenant);
  const lane = mostHeld(queueing);
  return lane && holdsUnfairly(lane.held, all.held, all.lanes) ? [lane] : [];
}
