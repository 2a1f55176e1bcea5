import { readFileSync } from 'node:fs';
import { startCostlyHost } from '@webhooks/testkit';
import type { Cost } from '@webhooks/testkit';
import type { ReceiverPlan, ReceiverReport } from './receiver.js';

/** Hosts that make whoever connects to them compute, in a process of their own. */
export type CostlyPlan = ReceiverPlan & { readonly cost: Cost };

const { cost, ports, certFile, keyFile } = JSON.parse(process.argv[2] ?? '') as CostlyPlan;
const pair = { certPem: readFileSync(certFile, 'utf8'), keyPem: readFileSync(keyFile, 'utf8') };
process.once('disconnect', () => process.exit(0));
const hosts = await Promise.all(Array.from({ length: ports }, () => startCostlyHost(cost, pair)));
process.send?.({ kind: 'listening', origins: hosts.map(({ origin }) => origin) } satisfies ReceiverReport);
