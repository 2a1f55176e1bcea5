export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Writes one line to the log. */
export type Logger = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

export const noLog: Logger = () => undefined;
