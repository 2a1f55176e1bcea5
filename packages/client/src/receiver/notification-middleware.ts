import type { Notification } from '../types/event-types.js';
import { NotificationError, createKeys, verifyNotification } from './verify-notification.js';

/** The part of an Express or `node:http` request that the middleware reads. */
export interface NotificationRequest extends AsyncIterable<Uint8Array> {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Whether the whole body was already read. */
  readonly readableEnded?: boolean;
  /** The body that an earlier middleware has read. */
  readonly body?: unknown;
  /** The received bytes. */
  rawBody?: Uint8Array;
  /** The notification in these bytes; set when the middleware lets the request pass. */
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
  /** The longest body that is read; default 65,536, bytes. */
  readonly maxBodyBytes?: number;
}

/** A notification has at most 1 KiB. The rest is a reserve for later formats. */
const MAX_BODY_BYTES = 65_536;

async function readBody(request: NotificationRequest, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () => new NotificationError('too-large', `the body has more than ${maxBytes} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  if (request.readableEnded === true)
    throw new NotificationError('rewritten-body', 'the body was read before, and its bytes were not kept');
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of request) {
    // A part is text after a call of `setEncoding`.
    const chunk = Buffer.from(part);
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Returns the body that was read before. Parsers of Express 4 set `{}` for a type that is not theirs, and read nothing. */
const keptBody = ({ body, readableEnded }: NotificationRequest): unknown =>
  typeof body === 'string' || body instanceof Uint8Array || readableEnded !== false ? body : undefined;

/**
 * Creates Express middleware that verifies the raw body: `rawBody`, else the `body` of `express.raw`, else the stream. For a valid
 * notification it sets `rawBody` and `notification`, and calls `next`. Otherwise it calls `next` with a `NotificationError`, or with the
 * error of a stream that broke off. Throws `TypeError` for an invalid secret.
 */
export function createNotificationMiddleware(options: MiddlewareOptions): NotificationMiddleware {
  const { secrets, maxBodyBytes = MAX_BODY_BYTES } = options;
  createKeys(secrets);
  const receive = async (request: NotificationRequest): Promise<void> => {
    const body: unknown = request.rawBody ?? keptBody(request) ?? (await readBody(request, maxBodyBytes));
    request.notification = verifyNotification(request.headers, body, secrets);
    if (body instanceof Uint8Array) request.rawBody = body;
  };
  return (request, _response, next) => {
    receive(request).then(() => next(), next);
  };
}
