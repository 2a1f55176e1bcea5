import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import protobuf from 'protobufjs';

/** What the tests read of opentelemetry/proto/collector/trace/v1/trace_service.proto. Field numbers are its own. */
const TRACE_SERVICE = `
syntax = "proto3";
message Request { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { repeated Span spans = 2; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; int64 int_value = 3; double double_value = 4; } }
message Link { bytes trace_id = 1; bytes span_id = 2; }
message Status { int32 code = 3; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; repeated Link links = 13; Status status = 15;
}`;
const requestType = protobuf.parse(TRACE_SERVICE, { keepCase: true }).root.lookupType('Request');

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, string | number>>;
}
interface SentSpan {
  readonly [name: string]: unknown;
  readonly attributes: readonly KeyValue[];
}
interface SentRequest {
  readonly resource_spans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scope_spans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

/** A span as a collector receives it. Ids are hexadecimal, times are Unix milliseconds. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  readonly from: number;
  readonly to: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Span ids. */
  readonly links: readonly string[];
  readonly failed: boolean;
}

const hexOf = (base64: unknown): string =>
  Buffer.from(typeof base64 === 'string' ? base64 : '', 'base64').toString('hex');
const millisOf = (nanos: unknown): number => Number(nanos) / 1e6;
const valuesOf = (attributes: readonly KeyValue[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] ?? '']));

function readSpans(body: Uint8Array): ReceivedSpan[] {
  const request = requestType.toObject(requestType.decode(body), {
    longs: Number,
    bytes: String,
  }) as SentRequest;
  return request.resource_spans.flatMap(({ resource, scope_spans: scopes }) =>
    scopes.flatMap(({ spans }) =>
      spans.map((span) => ({
        service: String(valuesOf(resource.attributes)['service.name']),
        name: String(span['name']),
        traceId: hexOf(span['trace_id']),
        spanId: hexOf(span['span_id']),
        parentId: hexOf(span['parent_span_id']),
        from: millisOf(span['start_time_unix_nano']),
        to: millisOf(span['end_time_unix_nano']),
        attributes: valuesOf(span.attributes),
        links: ((span['links'] ?? []) as { span_id: string }[]).map((link) => hexOf(link.span_id)),
        failed: (span['status'] as { code?: number } | undefined)?.code === 2,
      })),
    ),
  );
}

/** Starts a collector on a free loopback port: OTLP over HTTP, protobuf only. */
export async function startOtlpReceiver() {
  const spans: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    buffer(request).then(
      (body) => {
        const isTraces =
          request.url === '/v1/traces' && request.headers['content-type'] === 'application/x-protobuf';
        if (isTraces) spans.push(...readSpans(body));
        response.writeHead(isTraces ? 200 : 404, { 'content-type': 'application/x-protobuf' }).end();
      },
      (error: unknown) => response.destroy(error as Error),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: spans as readonly ReceivedSpan[],
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
