import { Closers, HealthBoard, NO_TRACING, Registry, SettingsReader } from '@webhooks/runtime';
import type { HealthReport, LogFields } from '@webhooks/runtime';
import { AUDIENCE } from '@webhooks/testkit';
import type { TokenDesk } from '@webhooks/testkit';
import { readApiSettings, serveApi } from '../../src/index.js';
import type { ApiDefaults, Operation } from '../../src/index.js';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

export interface ServedApi {
  readonly port: number;
  readonly url: string;
  readonly registry: Registry;
  /** What was logged since it listens; may be emptied. */
  readonly lines: Line[];
  ready(): HealthReport;
  /** Whether all ended in time. */
  close(): Promise<boolean>;
}

/** No limit for tenants. */
const API_DEFAULTS: ApiDefaults = { port: 1, maxOpenRequests: 1_024, tenantRequestsPerSecond: 0 };
const CLOSE_DEADLINE_MS = 5_000;

/** Serves operations on a free port of loopback, with the settings' defaults and these variables. */
export async function openServedApi(
  desk: TokenDesk,
  operations: readonly Operation[],
  env: Readonly<Record<string, string>>,
): Promise<ServedApi> {
  const lines: Line[] = [];
  const note =
    (level: string) =>
    (message: string, fields: LogFields = {}): void =>
      void lines.push({ level, message, fields });
  const log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
  const registry = new Registry();
  const closers = new Closers();
  const health = new HealthBoard();
  const settings = new SettingsReader({
    ...{
      HOST: '127.0.0.1',
      PORT: '0',
      SHUTDOWN_DELAY_MS: '0',
      TOKEN_ISSUER: desk.issuer,
      TOKEN_AUDIENCE: AUDIENCE,
    },
    ...env,
  });
  const port = await serveApi(readApiSettings(settings, API_DEFAULTS), operations, {
    ...{ log, registry, health, fail: () => undefined, addPage: () => undefined },
    tracing: NO_TRACING,
    onClose: (name, close) => closers.add(name, close),
  });
  expect(settings.faults).toEqual([]);
  lines.length = 0;
  const url = `http://127.0.0.1:${port}`;
  return {
    port,
    url,
    registry,
    lines,
    ready: () => health.isReady(),
    close: () => closers.closeAll(log, CLOSE_DEADLINE_MS),
  };
}
