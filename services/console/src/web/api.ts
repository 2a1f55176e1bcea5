import { createClient, ProblemError, type Problem, type RequestOptions } from '@webhooks/client';
import { QueryCache, QueryClient, useQuery } from '@tanstack/react-query';

/** Who is signed in. */
export interface Session {
  readonly personId?: string;
  readonly tenantId?: string;
  readonly isOperator: boolean;
}

/** The tenant that an operator acts for, in the address: `?tenant=acme`. */
export const tenantOf = (): string => new URLSearchParams(location.search).get('tenant') ?? '';

/** Who signed in when this page was loaded; another tab may sign in somebody else. */
let person: Session | undefined;

/** Whether the person may change something: an operator reads only. */
export const mayChange = (): boolean => person?.isOperator === false;

/** What the console takes in place of an access token, which no script ever has: the tenant that this page shows. */
function token(): Promise<string> {
  const tenant = mayChange() ? (person?.tenantId ?? '') : tenantOf();
  return Promise.resolve(tenant === '' ? 'console' : `console:${tenant}`);
}

export const client = createClient({
  baseUrl: `${location.origin}/api`,
  credentials: token,
  // The page shows a failure at once, with a button.
  maxRetries: 0,
  timeoutMs: 30_000,
});

/** Asks the console who is signed in. Throws `ProblemError` as the client does. */
export async function getSession(): Promise<Session> {
  const headers = { authorization: `Bearer ${await token()}` };
  const response = await fetch('/api/session', { headers, signal: AbortSignal.timeout(30_000) });
  const body: unknown = await response.json();
  if (response.ok) return (person = body as Session);
  throw new ProblemError(body as Problem);
}

/** Signs in at the issuer, and comes back to this page. */
function signIn(): void {
  location.assign(`/auth/sign-in?return=${encodeURIComponent(location.pathname + location.search)}`);
}

/** Ends the session here and at the issuer. */
export const signOut = (): void => location.assign('/auth/sign-out');

export const isSignedOut = (error: unknown): boolean => error instanceof ProblemError && error.status === 401;
const isLimited = (error: unknown): boolean => error instanceof ProblemError && error.status === 429;
/** Whether the same request will be refused again. */
const isFinal = (error: unknown): boolean =>
  error instanceof ProblemError && error.status < 500 && !isLimited(error);

/** How often shown data is requested again, milliseconds: a person reads no faster. */
const POLL_MS = 10_000;
/** The same for what costs many requests, and after a 429. */
const SLOW_POLL_MS = 30_000;

/** Nothing is requested by itself this long after the last touch or key, milliseconds, so that an idle session ends. */
const IDLE_MS = 30 * 60_000;
let usedAt = Date.now();
const isIdle = (): boolean => Date.now() - usedAt > IDLE_MS;
for (const type of ['pointerdown', 'keydown'])
  addEventListener(type, () => {
    // What fails is shown by the page. Polling goes on after the response.
    if (isIdle()) queryClient.refetchQueries({ type: 'active', stale: true }).catch(() => undefined);
    usedAt = Date.now();
  });

interface Polled {
  readonly state: { readonly error: Error | null; readonly data: unknown };
}

/** Requests shown data again after so many milliseconds; what does not exist is not requested again. */
const pollEvery =
  (ms: number) =>
  ({ state: { error, data } }: Polled): number | false => {
    if (isFinal(error) || data === null || isIdle()) return false;
    return isLimited(error) ? SLOW_POLL_MS : ms;
  };

/** For what costs three requests a webhook: the more webhooks, the more seldom. */
export const slowlyFor = (webhooks = 1) => pollEvery(SLOW_POLL_MS * Math.max(1, webhooks));
/** For what changes by the person alone, and for lists of deliveries and payments. On the embedded database one costs up to seconds, and all others wait for it. */
export const once = {
  refetchInterval: false,
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
  staleTime: Infinity,
} as const;

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => isSignedOut(error) && signIn() }),
  defaultOptions: {
    queries: { retry: false, staleTime: POLL_MS / 2, refetchInterval: pollEvery(POLL_MS) },
  },
});

/** Requests data of a page by a call of the client; `more` says how often. */
export const useCall = <T>(
  queryKey: readonly unknown[],
  call: (options: RequestOptions) => Promise<T>,
  more: Partial<typeof once> = {},
) => useQuery({ queryKey, queryFn: ({ signal }) => call({ signal }), ...more });

/** Returns what was typed into a field of a form. */
export function fieldOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}
