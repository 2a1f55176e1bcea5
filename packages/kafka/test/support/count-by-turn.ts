export interface TurnCounts {
  /** One more in this turn of the event loop. */
  readonly note: () => Promise<void>;
  readonly total: () => number;
  /** The most of one turn. */
  readonly most: () => number;
  readonly stop: () => void;
}

/** Counts what happens in each turn of the event loop. */
export function countByTurn(): TurnCounts {
  const counts = [0];
  let next: NodeJS.Immediate;
  const turn = (): void => {
    if (counts.at(-1) !== 0) counts.push(0);
    next = setImmediate(turn);
  };
  turn();
  return {
    note: () => {
      counts.push((counts.pop() ?? 0) + 1);
      return Promise.resolve();
    },
    total: () => counts.reduce((sum, count) => sum + count, 0),
    most: () => Math.max(...counts),
    stop: () => clearImmediate(next),
  };
}
