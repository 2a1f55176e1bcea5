/**
 * Why a request is no notification: headers of the signature are missing; the signature is of another secret (or of somebody
 * else); the body was parsed and written again; the clocks differ (or the request was recorded and sent again); the body is
 * longer than the receiver takes, or is signed and yet no notification.
 */
export type NotificationFault =
  'missing-headers' | 'wrong-secret' | 'rewritten-body' | 'clock' | 'too-large' | 'not-a-notification';

/** A request that must not be acted on. */
export class NotificationError extends Error {
  readonly reason: NotificationFault;
  /** What to respond with, as Express reads it from an error. */
  readonly status: 401 | 413;

  constructor(reason: NotificationFault, message: string) {
    super(`${reason}: ${message}`);
    this.name = 'NotificationError';
    this.reason = reason;
    this.status = reason === 'too-large' ? 413 : 401;
  }
}
