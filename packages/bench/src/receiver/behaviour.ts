/** What a path of a receiver does with a request. */
export type Behaviour =
  | { readonly kind: 'answer'; readonly status: number; readonly delayMs: number }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' };

export const WILLING: Behaviour = { kind: 'answer', status: 200, delayMs: 0 };

/** An answer without a body, as bytes. */
export const answerBytes = (status: number): Buffer =>
  Buffer.from(`HTTP/1.1 ${status} Bench\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n`);
