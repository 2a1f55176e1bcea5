import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

/** A gauge without labels, read at each scrape. */
export function addGauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
