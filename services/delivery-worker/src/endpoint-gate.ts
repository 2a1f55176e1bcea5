interface Endpoint {
  busy: number;
  readonly waiting: (() => void)[];
}

/** How many attempts one endpoint gets at once; the rest wait, bounded by the window of the source that read them. */
export class EndpointGate {
  private readonly endpoints = new Map<string, Endpoint>();
  private readonly slots: number;

  constructor(slots: number) {
    this.slots = slots;
  }

  /** Resolves when a slot is free; first come, first served. */
  enter(key: string): Promise<void> {
    const endpoint = this.endpoints.get(key) ?? this.open(key);
    if (endpoint.busy < this.slots) {
      endpoint.busy += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => endpoint.waiting.push(resolve));
  }

  /** Gives the slot to the next who waits. */
  leave(key: string): void {
    const endpoint = this.endpoints.get(key);
    if (!endpoint) throw new Error('a slot was given back that nobody held');
    const next = endpoint.waiting.shift();
    if (next) {
      next();
      return;
    }
    endpoint.busy -= 1;
    if (endpoint.busy === 0) this.endpoints.delete(key);
  }

  private open(key: string): Endpoint {
    const endpoint: Endpoint = { busy: 0, waiting: [] };
    this.endpoints.set(key, endpoint);
    return endpoint;
  }
}
