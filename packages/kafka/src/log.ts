export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The one thing this package needs of a logger; `(level, message, fields) => winston.log(level, message, fields)` fits. */
export type Logger = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

export const silent: Logger = () => undefined;
