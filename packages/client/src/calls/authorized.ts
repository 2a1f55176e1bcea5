import type { Call, CallRequest } from './call.js';
import { ProblemError } from './problem-error.js';
import type { createTokenSource } from './token-source.js';

/** A call of one service with the caller's token. */
export type Authorized = <T>(request: Omit<CallRequest<T>, 'auth' | 'baseURL'>) => Promise<T>;

/** A token that the service does not take (a 401: nothing was done) is renewed, once. */
export function authorizeCalls(
  call: Call,
  { token, forget }: ReturnType<typeof createTokenSource>,
  baseURL: string,
): Authorized {
  return async (request) => {
    const send = (value: string) =>
      call({ ...request, baseURL, headers: { ...request.headers, authorization: `Bearer ${value}` } });
    const first = await token(request.options);
    try {
      return await send(first);
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 401) throw error;
      forget(first);
      return send(await token(request.options));
    }
  };
}
