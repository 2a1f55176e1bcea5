type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** The members that are there: what the service takes has optional members, and none that are undefined. */
export const present = <T extends object>(source: T): Present<T> =>
  Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined)) as Present<T>;

/** What is listed page by page, so many at most. */
export async function collect<T>(listed: AsyncIterable<T>, limit = Infinity): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const one of listed) if (all.push(one) >= limit) break;
  return all;
}
