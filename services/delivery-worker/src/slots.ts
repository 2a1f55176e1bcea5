interface Place {
  busy: number;
  readonly waiting: (() => void)[];
}

/** So many at once for each key (say, of one tenant); the rest wait, bounded by the window of the source that read them. */
export class Slots {
  private readonly places = new Map<string, Place>();
  private readonly slots: number;

  constructor(slots: number) {
    this.slots = slots;
  }

  /** Resolves when a slot is free; first come, first served. */
  enter(key: string): Promise<void> {
    const place = this.places.get(key) ?? this.open(key);
    if (place.busy < this.slots) {
      place.busy += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => place.waiting.push(resolve));
  }

  /** Gives the slot to the next who waits. */
  leave(key: string): void {
    const place = this.places.get(key);
    if (!place) throw new Error('a slot was given back that nobody held');
    const next = place.waiting.shift();
    if (next) {
      next();
      return;
    }
    place.busy -= 1;
    if (place.busy === 0) this.places.delete(key);
  }

  private open(key: string): Place {
    const place: Place = { busy: 0, waiting: [] };
    this.places.set(key, place);
    return place;
  }
}
