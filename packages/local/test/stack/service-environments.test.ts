import { externalEngine } from '../../src/engine/engine-lifecycle.js';
import { PREFERRED_PORTS } from '../../src/stack/ports.js';
import { planServices } from '../../src/stack/service-environments.js';

const parts = {
  ports: PREFERRED_PORTS,
  kafka: { ...externalEngine('KAFKA_BROKERS'), brokers: ['a:9092', 'b:9092'] },
  issuer: {
    ...{ issuer: 'http://127.0.0.1:8080', tokenEndpoint: '', jwksUri: '' },
    stop: () => Promise.resolve(),
  },
  webClient: { clientId: 'console', clientSecret: '', redirectUri: '', signedOutUri: '' },
  ...{ audience: 'any', keyring: '', caFile: '', overrides: {} },
};
const mongoUrisOf = (members: string, proxies: Parameters<typeof planServices>[0]['proxies']) => {
  const uri = (database = ''): string => `mongodb://${members}/${database}?replicaSet=rs0`;
  const plans = planServices({ ...parts, proxies, mongo: { ...externalEngine('MONGODB_URI'), uri } });
  return plans.flatMap(({ env }) => env['MONGODB_URI'] ?? []);
};

it('services get the members of a replica set, or the proxy of the embedded database', () => {
  expect(mongoUrisOf('a:27017,b:27018', undefined)).toEqual([
    'mongodb://a:27017,b:27018/webhook_config?replicaSet=rs0',
    'mongodb://a:27017,b:27018/webhook_query?replicaSet=rs0',
  ]);
  const proxies = { kafka: {}, mongodb: (port: number) => port + 1 };
  expect(mongoUrisOf('127.0.0.1:27017', proxies)[0]).toBe(
    'mongodb://127.0.0.1:27018/webhook_config?replicaSet=rs0',
  );
});
