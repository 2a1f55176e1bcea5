import { paint } from '@webhooks/ledger';
import type { Print } from '@webhooks/ledger';

const LOOK_MS = 1_000;

interface Endpoints {
  readonly unhealthy: readonly {
    readonly ref: string;
    readonly origin: string;
    readonly state: string;
    readonly lastFailure: string;
  }[];
}

/** Prints a line when the breaker of an endpoint opens or closes, as the worker's `/endpoints` lists it. */
export function watchBreakers(workerAdmin: string, print: Print): void {
  let open = new Map<string, string>();
  const look = async (): Promise<void> => {
    const response = await fetch(`${workerAdmin}/endpoints`, { signal: AbortSignal.timeout(LOOK_MS) });
    const { unhealthy } = (await response.json()) as Endpoints;
    const now = new Map<string, string>();
    for (const { ref, origin, state, lastFailure } of unhealthy) {
      if (state === 'closed') continue;
      now.set(ref, origin);
      if (!open.has(ref))
        print(paint('yellow', `· breaker open: ${origin} (webhook ${ref}), last failure ${lastFailure}`));
    }
    for (const [ref, origin] of open)
      if (!now.has(ref)) print(paint('green', `· breaker closed: ${origin} (webhook ${ref})`));
    open = now;
  };
  // While the worker is away its list cannot be read; the stack prints that it ended.
  setInterval(() => void look().catch(() => undefined), LOOK_MS).unref();
}
