import type { Identity } from '../token/identity.js';
import type { QueryParameters } from './read-query.js';

type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** One request, already authenticated and within its size bound. */
export interface ApiRequest {
  readonly identity: Identity;
  readonly requestId: string;
  /** Named parts of the path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** A header by its lower-case name. Values of a repeated one are joined by a comma. */
  header(name: string): string | undefined;
  /** The raw body, empty when there was none. */
  readonly body: Buffer;
  /** Aborted when the caller has hung up or the service ends. An operation that waits then ends its wait. */
  readonly signal: AbortSignal;
}

export interface ApiReply {
  readonly status: number;
  /** Sent as JSON; a Buffer holds JSON already. Absent: no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One method at one path. `handle` throws an `AppError` for every fault that the caller is to see. */
export interface Operation {
  readonly method: HttpMethod;
  /** Express path, such as `/integration/v1/webhooks/:ref`. */
  readonly path: string;
  /** The token needs one of these scopes. */
  readonly scopes: readonly string[];
  /** Parameters of its query; default: none. Others are refused (422) before the body is read. */
  readonly query?: QueryParameters;
  /** The largest body, bytes. Absent: the operation takes none, and refuses one unless it is a GET. */
  readonly maxBodyBytes?: number;
  /** Checks the caller before the body is read. Throws an `AppError` to refuse the request. */
  readonly admit?: (identity: Identity) => void;
  readonly handle: (request: ApiRequest) => Promise<ApiReply>;
}

/** The `{ref}` of a path, which callers may write in any letter case. */
export const refOf = ({ params }: Pick<ApiRequest, 'params'>): string => (params['ref'] ?? '').toLowerCase();
