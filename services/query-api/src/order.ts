/** Negative, zero or positive, as `Array.prototype.sort` wants it. */
export type Order<T> = (left: T, right: T) => number;

/** Text before text as the database sorts them, not as a language does. */
export const compareText: Order<string> = (left, right) => (left < right ? -1 : Number(left > right));

export const byText =
  <T>(key: (one: T) => string): Order<T> =>
  (left, right) =>
    compareText(key(left), key(right));

export const byNumber =
  <T>(key: (one: T) => number): Order<T> =>
  (left, right) =>
    key(left) - key(right);

/** The first order that tells the two apart decides. */
export const inTurn =
  <T>(...orders: readonly Order<T>[]): Order<T> =>
  (left, right) => {
    for (const order of orders) {
      const difference = order(left, right);
      if (difference !== 0) return difference;
    }
    return 0;
  };

/** The greater of two; the first when neither is. */
export const greater = <T>(order: Order<T>, left: T, right: T): T => (order(left, right) >= 0 ? left : right);
