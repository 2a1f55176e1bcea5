import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import type { CertificateAuthority } from '../certificates/open-certificate-authority.js';
import { freePort } from '../engine/free-port.js';
import { runTool, withAdmin } from './broker-process.js';
import type { BrokerSettings } from './broker-properties.js';
import { prepareRuntime, startEmbeddedKafka } from './start-kafka.js';
import type { KafkaOptions } from './start-kafka.js';

export interface SecuredKafkaOptions extends Pick<KafkaOptions, 'dataDir' | 'log'> {
  /** Issues the broker's certificate, and is the authority of client certificates. */
  readonly authority: CertificateAuthority;
  /** Passwords by the names of users that may log in with PLAIN; default none. */
  readonly plainUsers?: Readonly<Record<string, string>>;
  /** How tokens for OAUTHBEARER are checked; default: the mechanism is off. The user is the claim `sub`. */
  readonly tokens?: { readonly issuer: string; readonly jwksUri: string; readonly audience: string };
  /** Lifetime of a session until the client must authenticate again, milliseconds; default: no limit. */
  readonly sessionMs?: number;
}

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;
const { READ: Read, WRITE: Write, DESCRIBE_CONFIGS: DescribeConfigs } = AclOperationTypes;
/** The codes of operations in access rules, by Kafka's names. */
const OPERATIONS = { Read, Write, DescribeConfigs };

export interface AccessRule {
  readonly user: string;
  readonly operations: readonly (keyof typeof OPERATIONS)[];
  readonly topic?: string;
  /** Begin of the names of consumer groups. */
  readonly groupPrefix?: string;
}

const MODULE = 'org.apache.kafka.common.security';
const loginModule = (name: string, options = ''): string => `${MODULE}.${name} required${options};`;

function listenerSettings(options: SecuredKafkaOptions): BrokerSettings {
  const { plainUsers = {}, tokens, sessionMs = 0 } = options;
  const users = Object.entries(plainUsers).map(([name, password]) => ` user_${name}="${password}"`);
  const settings: BrokerSettings = {
    'sasl.enabled.mechanisms': `PLAIN,SCRAM-SHA-256,SCRAM-SHA-512${tokens ? ',OAUTHBEARER' : ''}`,
    'plain.sasl.jaas.config': loginModule('plain.PlainLoginModule', users.join('')),
    'scram-sha-256.sasl.jaas.config': loginModule('scram.ScramLoginModule'),
    'scram-sha-512.sasl.jaas.config': loginModule('scram.ScramLoginModule'),
    'ssl.client.auth': 'required',
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
 * Starts an embedded broker with access rules. Its listener at localhost requires a client certificate and SASL. The
 * listener of `brokers` needs neither, and its clients may do everything.
 */
export async function startSecuredKafka(options: SecuredKafkaOptions) {
  const { dataDir, authority, tokens, log = () => undefined } = options;
  const { certPem, keyPem } = await authority.issue(['localhost']);
  await writeFile(join(dataDir, 'broker.pem'), `${keyPem}\n${certPem}`, { mode: 0o600 });
  const port = await freePort();
  const kafka = await startEmbeddedKafka({
    // TLS takes far more CPU time by the quick compiler.
    ...{ dataDir, log, forLoad: true },
    secure: { port, settings: { ...AUTHORIZER, ...listenerSettings(options) } },
    // The client's own protection against foreign addresses of key sets (Kafka 4.0).
    jvmOptions: tokens ? [`-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=${tokens.jwksUri}`] : [],
  });
  const runtime = await prepareRuntime(log);
  return Object.assign(kafka, {
    /** `localhost:port` of the listener with TLS and SASL. */
    secure: `localhost:${port}`,
    /** Adds a user of a SCRAM mechanism, or changes its password. Takes a second, because it runs Kafka's own tool. */
    setPassword: (user: string, password: string, mechanism = 'SCRAM-SHA-512'): Promise<void> =>
      runTool(runtime, dataDir, [
        'kafka.admin.ConfigCommand',
        ...['--bootstrap-server', kafka.brokers.join(','), '--alter', '--entity-type', 'users'],
        ...['--entity-name', user, '--add-config', `${mechanism}=[password=${password}]`],
      ]),
    allow: (...rules: readonly AccessRule[]) =>
      withAdmin(kafka.brokers, (admin) => admin.createAcls({ acl: rules.flatMap(toAcls) })),
    /** Takes rights away that `allow` has given. */
    revoke: (rule: AccessRule) =>
      withAdmin(kafka.brokers, (admin) => admin.deleteAcls({ filters: toAcls(rule) })),
  });
}

const toAcls = ({ user, operations, topic, groupPrefix }: AccessRule) =>
  operations.map((operation) => ({
    principal: `User:${user}`,
    host: '*',
    permissionType: AclPermissionTypes.ALLOW,
    operation: OPERATIONS[operation],
    resourceName: topic ?? groupPrefix ?? '',
    ...(topic === undefined
      ? { resourceType: AclResourceTypes.GROUP, resourcePatternType: ResourcePatternTypes.PREFIXED }
      : { resourceType: AclResourceTypes.TOPIC, resourcePatternType: ResourcePatternTypes.LITERAL }),
  }));

export type SecuredKafka = Awaited<ReturnType<typeof startSecuredKafka>>;
