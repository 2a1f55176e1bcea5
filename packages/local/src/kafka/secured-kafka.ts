import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import type { CertificateAuthority } from '../certificates/open-certificate-authority.js';
import { lastLines, runCommand } from '../engine/command.js';
import { freePort } from '../engine/free-port.js';
import { READY_DEADLINE_MS } from '../engine/wait.js';
import { createUnloggedKafka, javaArguments } from './broker-process.js';
import type { BrokerSettings } from './broker-properties.js';
import { prepareRuntime, startEmbeddedKafka } from './start-kafka.js';
import type { KafkaOptions } from './start-kafka.js';

export interface SecuredKafkaOptions extends Pick<KafkaOptions, 'dataDir' | 'log'> {
  /** Issues the broker's certificate, and is the authority of client certificates. */
  readonly authority: CertificateAuthority;
  /** Whether clients must present a certificate besides SASL; default false. */
  readonly requiresCertificate?: boolean;
  /** Passwords by the names of users that may log in with PLAIN; default none. */
  readonly plainUsers?: Readonly<Record<string, string>>;
  /** How tokens for OAUTHBEARER are checked; default: the mechanism is off. The user is the claim `sub`. */
  readonly tokens?: { readonly issuer: string; readonly jwksUri: string; readonly audience: string };
  /** Lifetime of a session until the client must authenticate again, milliseconds; default: no limit. */
  readonly sessionMs?: number;
}

/** Operations in access rules, by Kafka's names. */
type Operation = 'Read' | 'Write' | 'DescribeConfigs';

export interface AccessRule {
  readonly user: string;
  readonly operations: readonly Operation[];
  readonly topic?: string;
  /** Begin of the names of consumer groups. */
  readonly groupPrefix?: string;
}

const MODULE = 'org.apache.kafka.common.security';
const loginModule = (name: string, options = ''): string => `${MODULE}.${name} required${options};`;

function listenerSettings(options: SecuredKafkaOptions): BrokerSettings {
  const { plainUsers = {}, requiresCertificate = false, tokens, sessionMs = 0 } = options;
  const users = Object.entries(plainUsers).map(([name, password]) => ` user_${name}="${password}"`);
  const settings: BrokerSettings = {
    'sasl.enabled.mechanisms': `PLAIN,SCRAM-SHA-256,SCRAM-SHA-512${tokens ? ',OAUTHBEARER' : ''}`,
    'plain.sasl.jaas.config': loginModule('plain.PlainLoginModule', users.join('')),
    'scram-sha-256.sasl.jaas.config': loginModule('scram.ScramLoginModule'),
    'scram-sha-512.sasl.jaas.config': loginModule('scram.ScramLoginModule'),
    'ssl.client.auth': requiresCertificate ? 'required' : 'none',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': join(options.dataDir, 'broker.pem'),
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': options.authority.caFile,
    'connections.max.reauth.ms': sessionMs,
    ...(tokens && {
      'oauthbearer.sasl.jaas.config': loginModule('oauthbearer.OAuthBearerLoginModule'),
      'oauthbearer.sasl.server.callback.handler.class': `${MODULE}.oauthbearer.OAuthBearerValidatorCallbackHandler`,
      'sasl.oauthbearer.jwks.endpoint.url': tokens.jwksUri,
      'sasl.oauthbearer.expected.issuer': tokens.issuer,
      'sasl.oauthbearer.expected.audience': tokens.audience,
    }),
  };
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`listener.name.secure.${name}`, value]),
  );
}

const AUTHORIZER: BrokerSettings = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  // Whoever comes through the listener without TLS.
  'super.users': 'User:ANONYMOUS',
};

/**
 * Starts an embedded broker with a listener at localhost that requires TLS and SASL, and with access rules. The
 * listener of `brokers` needs neither, and its clients may do everything.
 */
export async function startSecuredKafka(options: SecuredKafkaOptions) {
  const { dataDir, authority, tokens, log = () => undefined } = options;
  const { certPem, keyPem } = await authority.issue(['localhost']);
  await writeFile(join(dataDir, 'broker.pem'), `${keyPem}\n${certPem}`, { mode: 0o600 });
  const port = await freePort();
  const kafka = await startEmbeddedKafka({
    ...{ dataDir, log },
    secure: { port, settings: { ...AUTHORIZER, ...listenerSettings(options) } },
    // The client's own protection against foreign addresses of key sets (Kafka 4.0).
    jvmOptions: tokens ? [`-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=${tokens.jwksUri}`] : [],
  });
  const asAdmin = async <T>(work: (admin: Admin) => Promise<T>): Promise<T> => {
    const admin = createUnloggedKafka(kafka.brokers).admin();
    await admin.connect();
    return work(admin).finally(() => admin.disconnect());
  };
  return Object.assign(kafka, {
    /** `localhost:port` of the listener with TLS and SASL. */
    secure: `localhost:${port}`,
    /** Adds a user of a SCRAM mechanism, or changes its password. Takes a second, because it runs Kafka's own tool. */
    setPassword: (user: string, password: string, mechanism = 'SCRAM-SHA-512'): Promise<void> =>
      configure(options, [
        ...['--bootstrap-server', kafka.brokers.join(','), '--alter', '--entity-type', 'users'],
        ...['--entity-name', user, '--add-config', `${mechanism}=[password=${password}]`],
      ]),
    allow: (...rules: readonly AccessRule[]) =>
      asAdmin((admin) => admin.createAcls({ acl: rules.flatMap(toAcls) })),
    /** Takes rights away that `allow` has given. */
    revoke: (rule: AccessRule) => asAdmin((admin) => admin.deleteAcls({ filters: toAcls(rule) })),
  });
}

async function configure(
  { dataDir, log = () => undefined }: SecuredKafkaOptions,
  args: readonly string[],
): Promise<void> {
  const runtime = await prepareRuntime(log);
  const { code, output } = await runCommand(
    runtime.java,
    [...javaArguments(runtime, [], 'kafka.admin.ConfigCommand'), ...args],
    { timeoutMs: READY_DEADLINE_MS, cwd: dataDir, env: { LC_ALL: 'C.UTF-8' } },
  );
  if (code !== 0) throw new Error(`Kafka's tool failed: ${lastLines(output)}`);
}

const toAcls = ({ user, operations, topic, groupPrefix }: AccessRule) =>
  operations.map((operation) => ({
    principal: `User:${user}`,
    host: '*',
    permissionType: kafkajs.AclPermissionTypes.ALLOW,
    operation: OPERATION_CODES[operation],
    resourceName: topic ?? groupPrefix ?? '',
    ...(topic === undefined
      ? { resourceType: kafkajs.AclResourceTypes.GROUP, resourcePatternType: kafkajs.ResourcePatternTypes.PREFIXED }
      : { resourceType: kafkajs.AclResourceTypes.TOPIC, resourcePatternType: kafkajs.ResourcePatternTypes.LITERAL }),
  }));

const OPERATION_CODES = {
  Read: kafkajs.AclOperationTypes.READ,
  Write: kafkajs.AclOperationTypes.WRITE,
  DescribeConfigs: kafkajs.AclOperationTypes.DESCRIBE_CONFIGS,
};

export type SecuredKafka = Awaited<ReturnType<typeof startSecuredKafka>>;
