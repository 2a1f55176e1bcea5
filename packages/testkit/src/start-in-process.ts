import { LONGEST_TIMEOUT_MS } from '@webhooks/contracts';
import type { AdminPage, LogFields, ServiceScope, SettingsReader } from '@webhooks/runtime';

/** One line of a service's log. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'fail';
  readonly message: string;
  readonly fields: LogFields;
}

/** The config reader and the compose function that a service's `main` passes to `runService`. */
interface ServiceParts<C> {
  readonly readConfig: (settings: SettingsReader) => C;
  readonly compose: (config: C, scope: ServiceScope) => Promise<void>;
}

/** Settings for an API that listens on a free loopback port and stops without delay. */
export const LOCAL_API = { HOST: '127.0.0.1', PORT: '0', SHUTDOWN_DELAY_MS: '0' } as const;

/**
 * Starts a service inside this process, from its config reader and its compose function. `onLine` is called with each line of its log.
 * Throws for invalid settings, and the errors of `compose` after closing what it had opened.
 */
export async function startInProcess<C>(
  { readConfig, compose }: ServiceParts<C>,
  env: Readonly<Record<string, string>>,
  onLine: (line: LogLine) => void = () => undefined,
) {
  // Loaded on demand, because most users of testkit need no service.
  const { Closers, HealthBoard, NO_TRACING, Registry, readSettings } = await import('@webhooks/runtime');
  const closers = new Closers();
  const [registry, health] = [new Registry(), new HealthBoard()];
  const lines: LogLine[] = [];
  const pages: AdminPage[] = [];
  const logAt =
    (level: LogLine['level']) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push({ level, message, fields });
      onLine({ level, message, fields });
    };
  const log = { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
  const scope: ServiceScope = {
    ...{ log, registry, health, tracing: NO_TRACING },
    onClose: (name, close) => closers.add(name, close),
    addPage: (page) => pages.push(page),
    fail: (error) => logAt('fail')(String(error), { error }),
  };
  const closeAll = () => closers.closeAll(log, LONGEST_TIMEOUT_MS);
  await compose(readSettings(env, readConfig), scope).catch(async (error: unknown) => {
    await closeAll();
    throw error;
  });
  const listening = lines.find(({ message }) => message === 'listening');
  return {
    /** Address of the API: `http://127.0.0.1:<port>`. */
    url: `http://127.0.0.1:${String(listening?.fields['port'])}`,
    /** The service's log so far. A call of `fail` is a line of level `fail`. */
    lines: lines as readonly LogLine[],
    ready: () => health.isReady(),
    metrics: () => registry.metrics(),
    /** Renders a page of the admin server; undefined for an unknown path. */
    page: (path: string) => pages.find((page) => page.path === path)?.render(),
    /** Closes all parts. Throws when one of them fails, or takes longer than 30 s. */
    stop: async () => {
      if (await closeAll()) return;
      const failed = lines.findLast(({ message }) => message === 'closing failed');
      throw new Error(`a part did not close: ${JSON.stringify(failed?.fields)}`);
    },
  };
}
export type RunningService = Awaited<ReturnType<typeof startInProcess>>;
