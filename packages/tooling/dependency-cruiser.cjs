// The rules of the house: which room may open a door to which.
const NODE_IO = [
  'fs',
  'fs/promises',
  'net',
  'tls',
  'http',
  'https',
  'http2',
  'dns',
  'dgram',
  'child_process',
].map((name) => `^(node:)?${name}$`);
const mayImport = (name, allowed) => ({
  name: `${name}-imports`,
  comment: `packages/${name} may import only: ${allowed.join(', ') || 'nothing of ours'}`,
  severity: 'error',
  from: { path: `^packages/${name}/src/` },
  to: { path: '^packages/([^/]+)/', pathNot: [name, ...allowed].map((other) => `^packages/${other}/`) },
});

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'service-to-service',
      comment: 'services meet only through Kafka topics and public HTTP',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'package-to-service',
      comment: 'packages start services as processes and never import one',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^services/' },
    },
    {
      name: 'services-use-no-workshop',
      comment: 'what runs one machine or measures is not part of a service',
      severity: 'error',
      from: { path: '^services/[^/]+/src/', pathNot: '^services/console/src/web/' },
      to: { path: '^packages/(local|testkit|demo|proof|tooling|client|cli)/' },
    },
    {
      name: 'contracts-no-io',
      comment: 'contracts does no I/O',
      severity: 'error',
      from: { path: '^packages/contracts/src/' },
      to: { path: NODE_IO },
    },
    {
      name: 'worker-pure-files',
      comment: 'the policy of the worker imports no client library',
      severity: 'error',
      from: { path: '^services/delivery-worker/src/path/(decide|fan-out|deliver)\\.ts$' },
      to: { dependencyTypes: ['npm', 'npm-dev'], pathNot: '^packages/' },
    },
    {
      name: 'kafkajs-in-its-adapter',
      comment: 'another Kafka client replaces one folder',
      severity: 'error',
      from: { path: '^(packages/kafka/src/(?!kafkajs/)|services/[^/]+/src/)' },
      to: {
        path: '^kafkajs|node_modules/kafkajs|kafkajs-internals',
        pathNot: '^packages/kafka/src/kafkajs/',
      },
    },
    {
      name: 'kafka-protocol-is-pure',
      comment: 'bytes, without I/O',
      severity: 'error',
      from: { path: '^packages/kafka/src/wire/' },
      to: { path: '^packages/kafka/src/(?!wire/|record\\.ts$)' },
    },
    { name: 'not-to-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-dev-dependency-in-src',
      severity: 'error',
      // The pages are bundled.
      from: { path: '/src/', pathNot: '^services/console/src/web/' },
      to: { dependencyTypes: ['npm-dev'], pathNot: '^packages/' },
    },
    {
      name: 'console-pages',
      comment: 'the pages run in a browser: the client and its texts, and nothing else of ours',
      severity: 'error',
      from: { path: '^services/console/src/web/' },
      to: { path: '^(packages/(?!client/|contracts/)|services/(?!console/src/web/))' },
    },
    mayImport('contracts', []),
    mayImport('runtime', []),
    mayImport('local', ['contracts']),
    mayImport('http-api', ['runtime', 'contracts']),
    mayImport('kafka', ['runtime']),
    mayImport('mongodb', ['runtime']),
    mayImport('outbound', ['runtime', 'contracts']),
    mayImport('client', ['contracts']),
    mayImport('cli', ['client']),
    mayImport('testkit', ['contracts', 'local', 'client', 'runtime']),
    mayImport('demo', ['contracts', 'local', 'testkit', 'client']),
    mayImport('proof', ['contracts', 'local', 'testkit', 'client']),
  ],
  options: {
    doNotFollow: { path: ['node_modules', '(^|/)dist/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['source', 'import', 'types', 'default'],
    },
  },
};
