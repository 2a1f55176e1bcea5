import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { SpanKind } from '@opentelemetry/api';
import { withDeadline } from './closing.js';
import { createLogThrottle, errorFields, type Logger } from './logger.js';
import type { SettingsReader } from './settings.js';

/** One that is undefined is left out. */
type Attributes = Readonly<Record<string, string | number | undefined>>;

/** A span as it begins. Names and attributes follow the conventions of OpenTelemetry. */
interface SpanDescription {
  readonly name: string;
  readonly kind: keyof typeof SpanKind;
  readonly attributes: Attributes;
  /** `traceparent` of spans that this one follows. With them the span begins a trace of its own. */
  readonly links?: readonly string[];
}

/** A span that has begun. One that never ends is not exported. */
interface OpenSpan {
  /** Its context, as W3C Trace Context §3.2 writes it. */
  readonly traceparent: string;
  /** Ends the span. Must be called once. With the attribute `error.type` it has failed. */
  readonly end: (attributes?: Attributes) => void;
}

/** Context of something that arrived; `end` is absent when its trace is not sampled. */
type Arrival = { readonly traceparent: string | undefined; readonly end?: OpenSpan['end'] };

export interface Tracing {
  /**
   * Begins a span for something that arrived with this `traceparent`, which the caller has checked. Without one a trace
   * begins here, and one in so many is sampled; for the others the context stays undefined.
   */
  readonly arrive: (sent: string | undefined, describe: () => SpanDescription) => Arrival;
  /** A context that says that nothing is sampled, for a service after this one that would decide again; undefined when nothing is traced. */
  readonly unsampled: () => string | undefined;
  /** Begins a span if the span that caused it is sampled. `describe` is called only then. */
  readonly startSpan: (cause: string | undefined, describe: () => SpanDescription) => OpenSpan | undefined;
}

/** Ends a span when the work has ended; as failed when it rejects. */
export async function endAfter<T>(end: OpenSpan['end'], work: Promise<T>): Promise<T> {
  try {
    const result = await work;
    end();
    return result;
  } catch (error) {
    end({ 'error.type': error instanceof Error ? error.name : 'Error' });
    throw error;
  }
}

/** Traces nothing, and passes contexts on. */
export const NO_TRACING: Tracing = {
  arrive: (sent) => ({ traceparent: sent }),
  unsampled: () => undefined,
  startSpan: () => undefined,
};

function parseRatio(text: string): number {
  const ratio = /^(0(\.\d{1,9})?|1(\.0{1,9})?)$/.test(text) ? Number(text) : undefined;
  if (ratio === undefined) throw new Error('must be a number from 0 to 1, such as 0.01');
  return ratio;
}

function parseEndpoint(text: string): string {
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? '')) throw new Error('must be an http or https URL');
  return text;
}

/** OpenTelemetry's own variables. The exporter reads those for headers, certificates, time-out and compression itself. */
export const readTracingSettings = (settings: SettingsReader) => ({
  endpoint: settings.parsed('OTEL_EXPORTER_OTLP_ENDPOINT', '', parseEndpoint),
  ratio: settings.parsed('OTEL_TRACES_SAMPLER_ARG', '0.01', parseRatio) ?? 0,
});

type TracingSettings = ReturnType<typeof readTracingSettings>;

/** The flag `sampled`: the lowest bit of the last byte. */
const isSampled = (traceparent: string): boolean => Number.parseInt(traceparent.slice(-2), 16) % 2 === 1;

type Warn = (...fault: unknown[]) => void;

/** Writes faults of tracing to the log, the libraries' own too: at most a line in 10 s. */
function createWarn(log: Logger): Warn {
  const throttle = createLogThrottle();
  return (...fault) =>
    throttle((faults) => {
      log.warn('tracing has a fault', { faults, fault: fault.map(String).join(' ').slice(0, 500) });
    });
}

/** A fault of tracing must not become one of a delivery. */
function guard<T>(warn: Warn, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    warn(error);
    return undefined;
  }
}

/** A span that has ended, as the library gets it. Times are Unix time in milliseconds. */
interface EndedSpan extends SpanDescription {
  /** `traceparent` of the span that caused it; undefined: a trace begins. */
  readonly parent: string | undefined;
  readonly traceId: string;
  readonly spanId: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** How long an ended span waits for its burst at most, milliseconds: 90 spans, at 1 % of 3,000 deliveries a second. */
const LONGEST_WAIT_MS = 1_000;
/** Spans of a burst: as many as the library exports at once. They take 5 ms. */
const MAX_BURST = 512;

/**
 * Hands ended spans to the library in bursts. Its code is cold when one delivery in a hundred runs it: a span takes 41 us of
 * CPU at once, and 10 in a burst.
 */
function createBursts(exportSpan: (span: EndedSpan) => void, warn: Warn) {
  let waiting: EndedSpan[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    const burst = waiting;
    waiting = [];
    for (const span of burst) guard(warn, () => exportSpan(span));
  };
  const add = (span: EndedSpan): void => {
    if (waiting.push(span) === 1) timer = setTimeout(flush, LONGEST_WAIT_MS).unref();
    if (waiting.length >= MAX_BURST) flush();
  };
  return { add, flush };
}

/** So long the last spans are sent while the service ends: a collector that is away must not hold it. */
const LAST_SPANS_MS = 2_000;

/**
 * Loads OpenTelemetry and exports spans to a collector, as OTLP over HTTP with protobuf, within 6 s. Of spans that
 * wait, those beyond 2,048 and a burst are dropped. `shutdown` sends the last ones, and never rejects.
 */
async function openExporter(endpoint: string, resource: Attributes, log: Logger) {
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
  ]);
  const warn = createWarn(log);
  const ignore = (): void => undefined;
  const diagnostics = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
  api.diag.setLogger(diagnostics, { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true });
  const exporter = new OTLPTraceExporter({ url: endpoint.replace(/\/*$/, '/v1/traces') });
  // Those that the span got when it began: `startSpan` asks for them at once.
  let ids = { traceId: '', spanId: '' };
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes(resource),
    // Whoever starts a span has looked at the flag.
    sampler: new sdk.AlwaysOnSampler(),
    idGenerator: { generateTraceId: () => ids.traceId, generateSpanId: () => ids.spanId },
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('webhooks');
  const contextOf = (traceparent: string) => {
    const [, traceId = '', spanId = ''] = traceparent.split('-');
    return { traceId, spanId, traceFlags: api.TraceFlags.SAMPLED, isRemote: true };
  };
  const exportSpan = (ended: EndedSpan): void => {
    const { name, attributes, links = [], parent, startMs } = ended;
    ids = ended;
    const { ROOT_CONTEXT, trace } = api;
    const context =
      parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent));
    const linked = links.map((link) => ({ context: contextOf(link) }));
    const options = { kind: api.SpanKind[ended.kind], attributes, links: linked, startTime: startMs };
    const span = tracer.startSpan(name, options, context);
    if (attributes['error.type'] !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR });
    span.end(ended.endMs);
  };
  const { add, flush } = createBursts(exportSpan, warn);
  const shutdown = (): Promise<void> => {
    flush();
    return withDeadline(provider.shutdown(), LAST_SPANS_MS, 'sending them').catch((error: unknown) => {
      log.warn('the last traces could not be exported', errorFields(error));
    });
  };
  return { warn, random: new sdk.RandomIdGenerator(), add, shutdown };
}

type Exporter = Pick<Awaited<ReturnType<typeof openExporter>>, 'random' | 'add'>;

function beginSpan(
  cause: string | undefined,
  description: SpanDescription,
  { random, add }: Exporter,
): OpenSpan {
  const parent = description.links === undefined ? cause : undefined;
  const traceId = parent?.slice(3, 35) ?? random.generateTraceId();
  const begun = { ...description, parent, traceId, spanId: random.generateSpanId(), startMs: Date.now() };
  const startedAt = performance.now();
  return {
    traceparent: `00-${traceId}-${begun.spanId}-01`,
    end: (more) => {
      const endMs = begun.startMs + performance.now() - startedAt;
      add({ ...begun, attributes: { ...description.attributes, ...more }, endMs });
    },
  };
}

/** Opens the traces of a service. Without an endpoint no library is loaded, and nothing is traced. */
export async function openTracing(
  { endpoint, ratio }: TracingSettings,
  resource: { readonly service: string; readonly version: string },
  log: Logger,
): Promise<Tracing & { readonly shutdown: () => Promise<void> }> {
  if (endpoint === undefined) return { ...NO_TRACING, shutdown: () => Promise.resolve() };
  const { service, version } = resource;
  const instance = { 'service.instance.id': randomUUID(), 'host.name': hostname() };
  const named = { 'service.name': service, 'service.version': version, ...instance };
  const exporter = await openExporter(endpoint, named, log);
  const { warn, random, shutdown } = exporter;
  const open = (cause: string | undefined, describe: () => SpanDescription): OpenSpan | undefined =>
    guard(warn, () => beginSpan(cause, describe(), exporter));
  const startSpan: Tracing['startSpan'] = (cause, describe) =>
    cause !== undefined && isSampled(cause) ? open(cause, describe) : undefined;
  return {
    arrive: (sent, describe) => {
      if (sent !== undefined) return startSpan(sent, describe) ?? { traceparent: sent };
      return (Math.random() < ratio && open(undefined, describe)) || { traceparent: sent };
    },
    unsampled: () => `00-${random.generateTraceId()}-${random.generateSpanId()}-00`,
    startSpan,
    shutdown,
  };
}
