import { paint, print } from '@webhooks/testkit/account';

const LOOK_MS = 1_000;

/** A line of the worker's list. */
interface Unhealthy {
  readonly ref: string;
  readonly origin: string;
  readonly state: string;
  readonly lastFailure: string;
}

/** Prints a line when the breaker of an endpoint opens or closes, as the worker's `/endpoints` lists it. */
export function watchBreakers(workerAdmin: string): void {
  let open = new Map<string, Unhealthy>();
  const look = async (): Promise<void> => {
    const response = await fetch(`${workerAdmin}/endpoints`, { signal: AbortSignal.timeout(LOOK_MS) });
    const { unhealthy } = (await response.json()) as { readonly unhealthy: readonly Unhealthy[] };
    const isOpen = ({ state }: Unhealthy): boolean => state !== 'closed';
    const now = new Map(unhealthy.filter(isOpen).map((one) => [one.ref, one]));
    for (const [ref, { origin, lastFailure }] of now)
      if (!open.has(ref))
        print(paint('yellow', `· breaker open: ${origin} (webhook ${ref}), last failure ${lastFailure}`));
    for (const [ref, { origin }] of open)
      if (!now.has(ref)) print(paint('green', `· breaker closed: ${origin} (webhook ${ref})`));
    open = now;
  };
  // While the worker is away its list cannot be read; the stack prints that it ended.
  setInterval(() => void look().catch(() => undefined), LOOK_MS).unref();
}
