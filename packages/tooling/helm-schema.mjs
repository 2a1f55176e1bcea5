// Writes the settings of all services into the schema of the Helm chart's values: npm run build && node packages/tooling/helm-schema.mjs
// A service's own reader names its settings; the rest of the schema is written by hand. `--print` shows it instead.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const SCHEMA = join(ROOT, 'deploy', 'helm', 'webhooks', 'values.schema.json');

/** The chart sets ports, the names of pods and who creates topics; an image runs as in production and knows its commit. */
const FIXED =
  /^(HOST|PORT|ADMIN_HOST|ADMIN_PORT|BUILD_COMMIT|KAFKA_CLIENT_ID|TOPICS_CREATE|ALLOW_LOCALHOST_ENDPOINTS)$/;
/** These come from a file of a Secret only. */
const SECRET = /^(CLIENT_SECRET|EGRESS_PROXY_CREDENTIALS|KAFKA_SASL_PASSWORD|MONGODB_URI|SECRETS_KEYS)$/;

const { SettingsReader, readProcessSettings } = await import(
  join(ROOT, 'packages/runtime/dist/src/index.js')
);

/** The settings that a service reads, and their descriptors. Reading two of them makes it look at every other one, too. */
async function settingsOf(service) {
  const config = await import(join(ROOT, 'services', service, 'dist/src/config.js'));
  const reader = new SettingsReader({ KAFKA_TLS: 'true', KAFKA_SASL_MECHANISM: 'oauthbearer' });
  readProcessSettings(reader);
  Object.entries(config).find(([name]) => /^read\w*Config$/.test(name))[1](reader);
  return [...reader.descriptors].filter(([name]) => !FIXED.test(name)).sort();
}

/** A type of YAML: `0.1` and `123` need quotes where a service reads text. */
function typeOf({ type, min: minimum, max: maximum }) {
  if (type === 'integer') return { type, minimum, maximum };
  return { type: type === 'flag' ? 'boolean' : 'string' };
}

/** `settings` and `files` of a block. A lower-case name is a file that a setting names. */
function definitionsOf([block, settings]) {
  const isFile = (name) => SECRET.test(name) || name.endsWith('_FILE');
  // The Job of the topics alone makes topics.
  const own = settings.filter(([name]) => block === 'topics' || !name.startsWith('TOPICS_'));
  const values = own.filter(([name]) => !isFile(name)).map(([name, one]) => [name, typeOf(one)]);
  const file = { $ref: '#/definitions/file' };
  const paths = own.filter(([name]) => isFile(name)).map(([name]) => name.replace(/(_FILE)?$/, '_FILE'));
  const object = { type: 'object', additionalProperties: false };
  return {
    [`${block}Settings`]: { ...object, properties: Object.fromEntries(values) },
    [`${block}Files`]: {
      ...object,
      properties: Object.fromEntries(paths.map((name) => [name, file])),
      patternProperties: { '^[a-z][a-z0-9.-]*$': file },
    },
  };
}

const [configApi, ingest, deliveryWorker, queryApi, console] = await Promise.all(
  ['config-api', 'ingest', 'delivery-worker', 'query-api', 'console'].map(settingsOf),
);
const only = (settings, pattern) => settings.filter(([name]) => pattern.test(name));
const has = (settings, name) => settings.some(([other]) => other === name);
const blocks = {
  ...{ configApi, ingest, deliveryWorker, queryApi, console },
  kafka: only(ingest, /^KAFKA_/),
  issuer: only(console, /^(TOKEN|TENANT)_/),
  endpoints: configApi.filter(([name]) => has(deliveryWorker, name) && !has(ingest, name)),
  traces: only(ingest, /^OTEL_/),
  topics: only(ingest, /^(KAFKA|TOPICS)_/),
};
const schema = JSON.parse(readFileSync(SCHEMA, 'utf8'));
Object.assign(schema.definitions, ...Object.entries(blocks).map(definitionsOf));
const text = await format(JSON.stringify(schema), { ...(await resolveConfig(SCHEMA)), filepath: SCHEMA });
if (process.argv[2] === '--print') process.stdout.write(text);
else writeFileSync(SCHEMA, text);
