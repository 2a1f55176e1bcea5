type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** The members that are there: what the service takes has optional members, and none that are undefined. */
export const present = <T extends object>(source: T): Present<T> =>
  Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined)) as Present<T>;
