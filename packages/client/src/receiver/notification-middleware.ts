import type { Notification } from '../types/event-types.js';
import { NotificationError, createKeys, verifyNotification } from './verify-notification.js';

/** A request of Express, or of `node:http`, as far as it is read here. */
export interface NotificationRequest extends AsyncIterable<Uint8Array> {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Whether all of the body was read already. */
  readonly readableEnded?: boolean;
  /** Where a middleware before this one left what it read. */
  readonly body?: unknown;
  /** The bytes that came. */
  rawBody?: Uint8Array;
  /** What they are; there once the middleware has let the request pass. */
  notification?: Notification;
}

export type NotificationMiddleware = (
  request: NotificationRequest,
  response: unknown,
  next: (error?: unknown) => void,
) => void;

export interface MiddlewareOptions {
  /** Secrets that are valid now: during a rotation two or three. */
  readonly secrets: string | readonly string[];
  /** Longest body that is read, in bytes; default 64 KiB. */
  readonly maxBodyBytes?: number;
}

/** A notification has at most 1 KiB, and formats may grow. */
const MAX_BODY_BYTES = 65_536;

async function readBody(request: NotificationRequest, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () => new NotificationError('too-large', `the body has more than ${maxBytes} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  if (request.readableEnded === true)
    throw new NotificationError('rewritten-body', 'the body was read before, and its bytes were not kept');
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of request) {
    // Text, when somebody called setEncoding.
    const chunk = Buffer.from(part);
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Express middleware: reads the raw body (or takes it from `rawBody`, or from a `body` that `express.raw` left), verifies it, and
 * lets the request pass with `rawBody` and `notification`. Anything else goes to `next` as a `NotificationError` with its `status`;
 * an upload that breaks off, as the error of its stream. Throws `TypeError` for a secret that is none.
 */
export function createNotificationMiddleware(options: MiddlewareOptions): NotificationMiddleware {
  const { secrets, maxBodyBytes = MAX_BODY_BYTES } = options;
  createKeys(secrets);
  const receive = async (request: NotificationRequest): Promise<void> => {
    const body: unknown = request.rawBody ?? request.body ?? (await readBody(request, maxBodyBytes));
    request.notification = verifyNotification(request.headers, body, secrets);
    if (body instanceof Uint8Array) request.rawBody = body;
  };
  return (request, _response, next) => {
    receive(request).then(() => next(), next);
  };
}
