import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';

/** A counter with these labels. */
export const addCounter = <Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  ...labelNames: Label[]
) => new Counter({ name, help, labelNames, registers: [registry] });
