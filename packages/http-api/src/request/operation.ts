import type { Identity } from '../token/identity.js';
import type { QueryParameters } from './read-query.js';

type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** One authenticated request, with a body within the size limit. */
export interface ApiRequest {
  readonly identity: Identity;
  readonly requestId: string;
  /** Named parts of the path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Returns a header by its lower-case name. The values of a repeated header are joined by a comma. */
  header(name: string): string | undefined;
  /** The raw body; empty when the request had none. */
  readonly body: Buffer;
  /** Whether the caller has hung up or the service shuts down. A waiting operation then ends its wait. */
  readonly isOver: () => boolean;
}

/** The response of an operation. */
export interface ApiReply {
  readonly status: number;
  /** Sent as JSON. A Buffer must contain JSON. Absent: no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One method at one path. `handle` throws an `AppError` for every fault that is to be shown to the caller. */
export interface Operation {
  readonly method: HttpMethod;
  /** Express path, such as `/integration/v1/webhooks/:ref`. */
  readonly path: string;
  /** The token must have one of these scopes. */
  readonly scopes: readonly string[];
  /** Parameters of the query; default: none. All others are refused (422) before the body is read. */
  readonly query?: QueryParameters;
  /** Largest body in bytes. Absent: the operation takes no body; a body is refused (422), but ignored for GET. */
  readonly maxBodyBytes?: number;
  /** Checks the caller before the body is read. Throws an `AppError` to refuse the request. */
  readonly admit?: (identity: Identity) => void;
  readonly handle: (request: ApiRequest) => Promise<ApiReply>;
}

/** Returns the `{ref}` of a path in lower case. Callers may write it in any letter case. */
export const refOf = ({ params }: Pick<ApiRequest, 'params'>): string => (params['ref'] ?? '').toLowerCase();
