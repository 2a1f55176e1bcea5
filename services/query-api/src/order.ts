/** Negative, zero or positive, as `Array.prototype.sort` expects. */
export type Order<T> = (left: T, right: T) => number;

const compare = <K extends string | number>(one: K, other: K): number =>
  one < other ? -1 : Number(one > other);

/** Sorts by a number, or by text as the database does: by code units. */
export const by =
  <T>(key: (one: T) => string | number): Order<T> =>
  (left, right) =>
    compare(key(left), key(right));

/** The first order that distinguishes the two decides. */
export const inTurn =
  <T>(...orders: readonly Order<T>[]): Order<T> =>
  (left, right) =>
    orders.reduce((difference, order) => difference || order(left, right), 0);

/** The greater of two; the first when they are equal. */
export const greater = <T>(order: Order<T>, left: T, right: T): T => (order(left, right) >= 0 ? left : right);
