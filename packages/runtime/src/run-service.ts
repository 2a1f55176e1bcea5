import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { addCounter, startAdminServer, type AdminPage, type Build } from './admin-server.js';
import { Closers, type Close } from './closing.js';
import { HealthBoard } from './health.js';
import { createLogger, errorFields, parseLogLevel, type Logger } from './logger.js';
import { runChecks, type Checks } from './run-checks.js';
import { SettingsError, readSettings, type SettingsReader } from './settings.js';
import { openTracing, readTracingSettings, type Tracing } from './tracing.js';

/** What `compose` of a service is called with, to connect its parts. */
export interface ServiceScope {
  readonly log: Logger;
  readonly health: HealthBoard;
  readonly registry: Registry;
  readonly tracing: Tracing;
  /** Registers how to close a part that was just opened. The last opened is closed first. */
  readonly onClose: (name: string, close: Close) => void;
  /** Adds a page to the admin server. */
  readonly addPage: (page: AdminPage) => void;
  /** Ends the process in order, with exit code 1, after a fault that only a restart can fix. */
  readonly fail: (error: unknown) => void;
}

export interface ServiceDefinition<C> {
  readonly name: string;
  /** Reads the service's own settings; faults are reported together with those of the process. */
  readonly readConfig: (settings: SettingsReader) => C;
  readonly compose: (config: C, scope: ServiceScope) => Promise<void>;
  /** What the argument `check` looks at. */
  readonly checks: (config: C) => Checks;
}

/** The settings that every service has. */
export const readProcessSettings = (settings: SettingsReader) => ({
  logLevel: settings.parsed('LOG_LEVEL', 'info', parseLogLevel) ?? 'info',
  adminHost: settings.text('ADMIN_HOST', '0.0.0.0'),
  adminPort: settings.port('ADMIN_PORT', 9090),
  shutdownTimeoutMs: settings.integer('SHUTDOWN_TIMEOUT_MS', 40_000, { min: 1_000, max: 600_000 }),
  /** An image sets it: the commit that it was built from. */
  commit: settings.text('BUILD_COMMIT', 'unknown'),
  tracing: readTracingSettings(settings),
});

/**
 * Returns a function that ends the process in order, once: everything is closed within the deadline. A second signal
 * ends it at once.
 */
function createShutdown(log: Logger, closers: Closers, timeoutMs: number) {
  let [ending, signals] = [false, 0];
  return (reason: string, exitCode: number): void => {
    signals += Number(exitCode === 0);
    if (signals > 1) process.exit(1);
    if (ending) return;
    ending = true;
    log.info('stopping', { reason });
    closers.closeAll(log, timeoutMs, exitCode === 0).then(
      (clean) => {
        const code = clean ? Math.max(exitCode, Number(process.exitCode ?? 0)) : 1;
        log.info('stopped', { clean: code === 0 });
        process.exit(code);
      },
      () => process.exit(1),
    );
  };
}

type Shutdown = ReturnType<typeof createShutdown>;

function watchProcess(log: Logger, shutdown: Shutdown): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => shutdown(signal, 0));
  // A service that was started by `npm start` ends with it, even when `npm start` was killed.
  process.once('disconnect', () => shutdown('the parent process has ended', 0));
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.error('unexpected fault', { event, ...errorFields(error) });
      // Also when the process is ending already.
      process.exitCode = 1;
      shutdown(event, 1);
    });
  }
}

/**
 * Counts failed writes of log lines, because the reader has ended (EPIPE) or the disk is full. The service
 * continues. Without a listener each failed line would be an uncaught exception, whose own line would fail too.
 */
function countFailedLogWrites(registry: Registry): void {
  const help = 'Writes of log lines that failed, because their reader has ended or the disk is full';
  const failed = addCounter(registry, 'log_writes_failed_total', help);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => failed.inc());
}

/** The version of the program that runs: each service has its own. */
function readVersion(): string {
  const manifest = findPackageJSON(pathToFileURL(process.argv[1] ?? '')) ?? '';
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  return version;
}

/** Exports what the service is, and what it lacks now. An alert on a fault needs no look at each service's own metrics. */
function exportState(
  build: Build & { readonly service: string },
  { registry, health }: Pick<ServiceScope, 'registry' | 'health'>,
): void {
  new Gauge({
    name: 'build_info',
    help: '1, with the name, the version and the commit of the service, and the version of Node',
    labelNames: ['service', 'version', 'commit', 'node'],
    registers: [registry],
  }).set({ ...build, node: process.version }, 1);
  new Gauge({
    name: 'service_fault',
    help: '1 for each fault that /readyz names now',
    labelNames: ['fault'],
    registers: [registry],
    collect() {
      this.reset();
      for (const fault of Object.keys(health.isReady().faults)) this.set({ fault }, 1);
    },
  });
}

function createScope(log: Logger, tracing: Tracing, closers: Closers, shutdown: Shutdown) {
  const registry = new Registry();
  const pages: AdminPage[] = [];
  // Milliseconds. prom-client's default, 10, makes half of the wake-ups of an idle service. The alert looks at 200 ms.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
  return {
    ...{ log, tracing },
    health: new HealthBoard(),
    registry,
    pages,
    onClose: (name, close) => closers.add(name, close),
    addPage: (page) => void pages.push(page),
    fail: (error) => {
      log.error('fatal fault', errorFields(error));
      process.exitCode = 1;
      shutdown('a fault that only a restart can fix', 1);
    },
  } satisfies ServiceScope & { pages: AdminPage[] };
}

/**
 * Bytes of the slabs from which Node allocates small buffers; Node's default is 64 KiB, and 8 KiB up to Node 22. A
 * referenced buffer keeps its whole slab in memory: 23 of the 32 MB of buffers in a flooded worker.
 */
const SLAB_BYTES = 8 * 1_024;

async function start<C>(definition: ServiceDefinition<C>): Promise<void> {
  Buffer.poolSize = SLAB_BYTES;
  const [settings, config] = readSettings(process.env, (reader) => [
    readProcessSettings(reader),
    definition.readConfig(reader),
  ]);
  const [argument] = process.argv.slice(2);
  if (argument === 'check')
    process.exit(await runChecks(definition.checks(config), (line) => process.stdout.write(line)));
  if (argument !== undefined) throw new SettingsError([`the argument must be 'check' or absent`]);
  const { name: service } = definition;
  const { adminPort: port, adminHost: host } = settings;
  const build = { version: readVersion(), commit: settings.commit };
  const log = createLogger(service, settings.logLevel);
  log.info('starting', { ...build, pid: process.pid, node: process.version });
  const closers = new Closers();
  const shutdown = createShutdown(log, closers, settings.shutdownTimeoutMs);
  const tracing = await openTracing(settings.tracing, { service, version: build.version }, log);
  closers.add('traces', () => tracing.shutdown());
  const scope = createScope(log, tracing, closers, shutdown);
  countFailedLogWrites(scope.registry);
  exportState({ service, ...build }, scope);
  watchProcess(log, shutdown);
  try {
    const admin = await startAdminServer({ port, host, build, ...scope });
    closers.add('admin server', () => admin.close());
    // Whoever started this process knows from here on that this process has the admin port, and no other.
    process.send?.('listening');
    let composed = false;
    scope.health.readiness('start', () => (composed ? undefined : 'starting'));
    await definition.compose(config, scope);
    composed = true;
    log.info('started', { adminPort: admin.port });
  } catch (error) {
    log.error('start failed', errorFields(error));
    shutdown('start failed', 1);
  }
}

/**
 * Starts a service, which runs until a signal ends it. With the argument `check` it prints what it can reach with
 * these settings instead, and ends. An invalid environment is reported on standard error, with exit code 2.
 */
export async function runService<C>(definition: ServiceDefinition<C>): Promise<void> {
  try {
    await start(definition);
  } catch (error) {
    const text = error instanceof SettingsError ? error.message : JSON.stringify(errorFields(error));
    process.stderr.write(`${definition.name}: ${text}\n`);
    process.exitCode = 2;
    if (process.connected) process.disconnect();
  }
}

/** For a program that ends with its work: a fault ends it with one sentence on standard error and exit code 2. */
export function reportFaults(): void {
  process.once('uncaughtException', ({ message }) => {
    process.stderr.write(`${message}\n`);
    process.exit(2);
  });
}
