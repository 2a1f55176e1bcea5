export { addCounter, type AdminPage } from './admin-server.js';
export { Closers, withDeadline } from './closing.js';
export { SettingsError, SettingsReader, readSettings, type SettingDescriptor } from './settings.js';
export { HealthBoard, type HealthReport } from './health.js';
export {
  bindFields,
  createLogger,
  errorFields,
  type LogFields,
  type Logger,
  createLogThrottles,
  createLogThrottle,
} from './logger.js';
export { repeat, type Repetition, shareNext } from './repeat.js';
export { readProcessSettings, runService, type ServiceScope } from './run-service.js';
export { addGauge, addSourceGauge, watchSource, type SourceState } from './watch-sources.js';
export { Gauge, Histogram, Registry, type Counter } from 'prom-client';
