interface CallPlace {
  readonly method: string;
  /** Scheme, host and port of what was called; never the path, the query, headers or a body. */
  readonly origin: string;
}

/** Only the words of a fault: what a library hangs on its errors holds the request with its secrets, or raw bytes. */
function bare(fault: unknown): Error {
  const { name, message } = fault instanceof Error ? fault : new Error(String(fault));
  const copy = new Error(message);
  copy.name = name;
  return copy;
}

function codeOf(fault: unknown): string {
  return fault instanceof Error && 'code' in fault && typeof fault.code === 'string' ? fault.code : 'UNKNOWN';
}

/** No response came: whether the service carried out the request is not known. Holds the address of the request and nothing else of it. */
export class ConnectionError extends Error {
  /** Short word such as `ECONNREFUSED`, or `ECONNABORTED` after the time-out. */
  readonly code: string;
  readonly method: string;
  readonly origin: string;

  constructor({ method, origin }: CallPlace, fault: unknown) {
    const code = codeOf(fault);
    super(`${method} ${origin}: no response (${code})`, { cause: bare(fault) });
    this.name = 'ConnectionError';
    this.code = code;
    this.method = method;
    this.origin = origin;
  }
}

/** A response came that is neither an error of the service nor one that this operation has: a redirect, a proxy's page. */
export class UnexpectedResponseError extends Error {
  readonly status: number;
  readonly method: string;
  readonly origin: string;

  /** `reason` says what was expected, without the body that came. */
  constructor({ method, origin }: CallPlace, status: number, reason: string) {
    super(`${method} ${origin}: unexpected response with status ${status}: ${reason}`);
    this.name = 'UnexpectedResponseError';
    this.status = status;
    this.method = method;
    this.origin = origin;
  }
}
