/** Resolves at the first signal; a second one ends the process at once. */
export function untilSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      resolve(undefined);
      process.on(signal, () => process.exit(130));
    });
  }
  return promise;
}
