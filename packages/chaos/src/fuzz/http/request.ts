/** A request before it is bytes. */
export interface Draft {
  readonly method: string;
  /** What stands in the request line. */
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

/** A valid request: what mutants are made of. */
export interface Template extends Draft {
  /** The operation's path as its OpenAPI document writes it. */
  readonly path: string;
  /** The body as a value, for operations that take one. */
  readonly value?: unknown;
}

/** No valid token, or one of another tenant. */
export type Refusal = 401 | 403;

/** A mutant: the bytes, and what of the template it still is. */
export interface FuzzRequest {
  readonly bytes: Buffer;
  readonly method: string;
  readonly body: Buffer;
  /** Not made of valid HTTP, or not for sure. */
  readonly isWire: boolean;
  /** Set while it is certain that it is for this operation. */
  readonly path?: string;
  /** The one status that it may be answered with, when its caller may not do this. */
  readonly expects?: Refusal;
}

const head = ({ method, target, headers }: Draft): Buffer =>
  Buffer.from(
    `${method} ${target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    'latin1',
  );

/** The bytes of a request with `Content-Length`. */
export function renderRequest(draft: Draft): Buffer {
  const length: readonly (readonly [string, string])[] =
    draft.body.length === 0 && draft.method === 'GET' ? [] : [['Content-Length', String(draft.body.length)]];
  return Buffer.concat([head({ ...draft, headers: [...draft.headers, ...length] }), draft.body]);
}

/** The bytes of a request with other framing headers than its body has, or in chunks that the caller made. */
export const renderFramed = (
  draft: Draft,
  framing: readonly (readonly [string, string])[],
  body: Buffer,
): Buffer => Buffer.concat([head({ ...draft, headers: [...draft.headers, ...framing] }), body]);
