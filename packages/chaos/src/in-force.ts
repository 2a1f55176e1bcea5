/** A change of a configuration holds for what comes later than this after its answer. */
export const IN_FORCE_MS = 1_000;
