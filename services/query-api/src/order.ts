/** Compares two values. Returns a negative number, zero or a positive one, as `Array.prototype.sort` expects. */
export type Order<T> = (left: T, right: T) => number;

const compare = <K extends string | number>(one: K, other: K): number =>
  one < other ? -1 : Number(one > other);

/** Orders by a number, or by text. Text is compared by code units, as in the database. */
export const orderBy =
  <T>(key: (one: T) => string | number): Order<T> =>
  (left, right) =>
    compare(key(left), key(right));

/** Chains orders: the first one that distinguishes the two values decides. */
export const chainOrders =
  <T>(...orders: readonly Order<T>[]): Order<T> =>
  (left, right) =>
    orders.reduce((difference, order) => difference || order(left, right), 0);

/** Returns the greater of two values; the left one when they are equal. */
export const greater = <T>(order: Order<T>, left: T, right: T): T => (order(left, right) >= 0 ? left : right);
