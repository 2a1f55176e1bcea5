/** Negative, zero or positive, as `Array.prototype.sort` expects. */
export type Order<T> = (left: T, right: T) => number;

/** Sorts text as the database does, by code units. */
export const compareText: Order<string> = (left, right) => (left < right ? -1 : Number(left > right));

export const byText =
  <T>(key: (one: T) => string): Order<T> =>
  (left, right) =>
    compareText(key(left), key(right));

export const byNumber =
  <T>(key: (one: T) => number): Order<T> =>
  (left, right) =>
    key(left) - key(right);

/** The first order that distinguishes the two decides. */
export const inTurn =
  <T>(...orders: readonly Order<T>[]): Order<T> =>
  (left, right) => {
    for (const order of orders) {
      const difference = order(left, right);
      if (difference !== 0) return difference;
    }
    return 0;
  };

/** The greater of two; the first when they are equal. */
export const greater = <T>(order: Order<T>, left: T, right: T): T => (order(left, right) >= 0 ? left : right);
