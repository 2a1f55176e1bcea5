/** What setup has opened and teardown has to close, last first; both run in jest's parent process. */
export const openedBySetup: (() => Promise<void>)[] = [];
