import type { LogFields } from '../src/index.js';
import { readSettings } from '../src/index.js';
import { openTracing, readTracingSettings } from '../src/tracing.js';

const SENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7';
/** Nobody listens there. */
const NOBODY = 'http://127.0.0.1:1';

/** Tracing as an environment sets it; `lines`: its log. */
async function openWith(env: Record<string, string>) {
  const lines: string[] = [];
  const log = (message: string, fields?: LogFields): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  const settings = readSettings(env, readTracingSettings);
  const resource = { service: 'ingest', version: '1.0.0' };
  const tracing = await openTracing(settings, resource, { debug: log, info: log, warn: log, error: log });
  return { lines, ...tracing };
}

const describeSpan = () => ({ name: 'send', kind: 'PRODUCER', attributes: {} }) as const;
const fail = (): never => {
  throw new Error('must not be called');
};

describe('tracing', () => {
  it.each([
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_TRACES_SAMPLER_ARG', 'always_on'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ])('does not start with %s=%s', (name, value) => {
    expect(() => readSettings({ [name]: value }, readTracingSettings)).toThrow(name);
  });

  it('that is off passes contexts on, and describes no span', async () => {
    const { arrive, startSpan, shutdown } = await openWith({});
    expect(arrive(`${SENT}-01`, fail)).toEqual({ traceparent: `${SENT}-01` });
    expect(arrive(undefined, fail)).toEqual({ traceparent: undefined });
    expect(startSpan(`${SENT}-01`, fail)).toBeUndefined();
    await shutdown();
  });

  it('of none describes no span, and has a context that is not sampled for the service after this one', async () => {
    const { arrive, unsampled, startSpan, shutdown } = await openWith({
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: NOBODY, OTEL_TRACES_SAMPLER_ARG: '0' },
    });
    expect(arrive(undefined, fail)).toEqual({ traceparent: undefined });
    expect(unsampled()).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(arrive(`${SENT}-00`, fail)).toEqual({ traceparent: `${SENT}-00` });
    expect(startSpan(undefined, fail)).toBeUndefined();
    await shutdown();
  });

  it('of all begins a trace, or a span in the trace that arrives; a collector that is away fails nobody', async () => {
    const { arrive, startSpan, shutdown, lines } = await openWith({
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: NOBODY, OTEL_TRACES_SAMPLER_ARG: '1' },
    });
    const own = arrive(undefined, describeSpan);
    expect(own.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    const joined = arrive(`${SENT}-01`, describeSpan);
    expect(joined.traceparent?.slice(0, 36)).toBe(`${SENT.slice(0, 35)}-`);
    expect(startSpan(own.traceparent, fail)).toBeUndefined();
    own.end?.();
    joined.end?.({ 'error.type': 'unavailable' });
    await shutdown();
    expect(lines.join()).toMatch(/tracing has a fault.*must not be called/);
    // The last ones were sent, to nobody.
    expect(lines.join()).toContain('the last traces could not be exported');
  });
});
