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
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
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
      from: { path: '^services/[^/]+/src/' },
      to: { path: '^packages/(engines|testkit|stack|ledger|demo|bench|chaos|tooling|client)/' },
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
      from: { path: '^services/delivery-worker/src/(decide|fan-out|schedule|deliver)\\.ts$' },
      to: { dependencyTypes: ['npm', 'npm-dev'], pathNot: '^packages/' },
    },
    { name: 'not-to-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-dev-dependency-in-src',
      severity: 'error',
      from: { path: '/src/' },
      to: { dependencyTypes: ['npm-dev'], pathNot: '^packages/' },
    },
    mayImport('contracts', []),
    mayImport('runtime', []),
    mayImport('engines', []),
    mayImport('http-api', ['runtime', 'contracts']),
    mayImport('kafka', ['runtime']),
    mayImport('outbound', ['contracts']),
    mayImport('client', ['contracts']),
    mayImport('testkit', ['contracts', 'engines']),
    mayImport('stack', ['contracts', 'engines', 'testkit', 'client']),
    mayImport('ledger', ['contracts', 'engines', 'testkit', 'client', 'stack']),
    mayImport('demo', ['contracts', 'engines', 'testkit', 'client', 'stack', 'ledger']),
    mayImport('bench', ['contracts', 'engines', 'testkit', 'client', 'stack', 'ledger']),
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
