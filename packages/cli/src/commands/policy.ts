import type { DeliveryPolicy, PolicyInput } from '@webhooks/client';
import type { Argv } from 'yargs';
import { parse } from 'yaml';
import { FILE, textOf } from '../arguments.js';
import { card, dim, table } from '../output.js';
import { showing } from '../session.js';
import { withRef } from './webhooks.js';

/** The service judges the members. Pretty errors would show the line, which may hold a secret. */
function readPolicy(file: string): PolicyInput {
  const policy: unknown = parse(textOf(file), { prettyErrors: false });
  if (policy instanceof Object) return policy;
  throw new Error('expected a policy, such as `timeoutMs: 20000`');
}

const OPTIONS = {
  file: { alias: 'f', ...FILE, coerce: readPolicy, describe: 'Replace it by this YAML; -: standard input' },
  certificate: { ...FILE, implies: 'key', describe: 'Client certificate and its chain, PEM' },
  key: { ...FILE, implies: 'certificate', describe: 'The key of the certificate, PEM' },
  remove: { type: 'boolean', conflicts: 'file', describe: 'Return to the defaults' },
} as const;

function policyText({ headers = {}, clientCertificate, retryDelays, ...plain }: DeliveryPolicy): string {
  const waits = retryDelays && { retryDelays: retryDelays.join(' ') };
  const rows = Object.entries(headers).map(([header, value]) => ({ header, ...value }));
  const shown = card({ ...plain, ...waits, ...clientCertificate });
  const all = rows.length === 0 ? shown : `${shown}\n\n${table(rows, ['header', 'endsWith'])}`;
  return all.trim() || dim('the defaults');
}

export const addPolicy = (cli: Argv): Argv =>
  cli.command(
    'policy <ref>',
    "Show or replace a webhook's own terms of delivery; sealed values that are left out stay",
    (own) => withRef(own).options(OPTIONS),
    showing(async (client, { ref, file, certificate, key, remove }) => {
      if (remove) await client.removePolicy(ref);
      const pair = certificate && key && { clientCertificate: { certificate, key } };
      if (file) return client.setPolicy(ref, { ...file, ...pair });
      const known = await client.policy(ref);
      if (!pair) return known;
      const { headers, clientCertificate, ...plain } = known;
      return client.setPolicy(ref, { ...plain, ...pair });
    }, policyText),
  );
