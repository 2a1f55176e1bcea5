import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { containerOf, faultsOf, nameOf, type Manifest } from './check-manifests.js';
import { readDescriptors } from './read-descriptors.js';
import { has, needs } from './tool.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const CHART = join(ROOT, 'deploy', 'helm', 'webhooks');
const TOOLS = join(ROOT, '.data', 'ci-tools');
const VALUES = globSync('values-*.yaml', { cwd: CHART }).sort();
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8');

/** The first of the programs that runs here: as `.ci/tools` brings it, or of the PATH. */
const found = (programs: readonly string[], argument: string): string | undefined =>
  programs.find((program) => has(program, argument));
const helm = found([join(TOOLS, 'helm'), 'helm'], 'version');
const validate = found(
  [join(TOOLS, 'python', 'bin', 'kubernetes-validate'), 'kubernetes-validate'],
  '--version',
);

const withHelm = needs('helm', helm !== undefined);
const withBoth = needs('kubernetes-validate', helm !== undefined && validate !== undefined);

const run = (...args: string[]) => spawnSync(helm ?? '', args, { cwd: CHART, encoding: 'utf8' });

/** What Helm makes of a chart, of files of values and of settings such as `ingest.image.tag=2`. Throws what it says when it fails. */
function render(values: string, set: readonly string[] = [], chart = CHART): Manifest[] {
  const flags = set.flatMap((setting) => ['--set', setting]);
  const { status, stdout, stderr } = run('template', 'webhooks', chart, '--values', values, ...flags);
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout).map(
    (document) => ({ spec: {}, ...(document.toJS() as object) }) as Manifest,
  );
}

const find = (manifests: readonly Manifest[], name: string): Manifest => {
  const manifest = manifests.find((one) => nameOf(one) === name);
  if (manifest === undefined) throw new Error(`expected ${name} in ${manifests.map(nameOf).join(', ')}`);
  return manifest;
};

const [SMALL = '', THREE_ZONES = ''] = VALUES;
const INGEST = 'Deployment webhooks-ingest';
const WORKER = 'StatefulSet webhooks-delivery-worker';
const BUDGET = 'PodDisruptionBudget webhooks-delivery-worker';
const POLICY = 'NetworkPolicy webhooks-delivery-worker';

/** Faults, and a change of what has each. */
const PLANTED: readonly (readonly [string, string, (changed: Manifest) => void])[] = [
  [WORKER, 'selects no pod', ({ spec }) => (spec.template.metadata.labels = {})],
  [WORKER, 'requests more than its limit', (one) => (containerOf(one).resources.requests['memory'] = '3Gi')],
  [WORKER, 'has a bad quantity', (one) => (containerOf(one).resources.limits['memory'] = '500 MB')],
  [WORKER, 'has a bad port name', (one) => (containerOf(one).ports = [{ name: 'administration-port' }])],
  [
    WORKER,
    'has a probe with other than one handler',
    (one) => (containerOf(one).livenessProbe = { exec: {}, grpc: {} }),
  ],
  [WORKER, 'mounts what is no volume', ({ spec }) => delete spec.template.spec.volumes],
  [BUDGET, 'has both a minimum and a maximum', ({ spec }) => (spec.minAvailable = 1)],
  [WORKER, 'has replicas and an autoscaler', ({ spec }) => (spec.replicas = 2)],
  [WORKER, 'is not restricted', (one) => delete containerOf(one).securityContext['readOnlyRootFilesystem']],
  [
    WORKER,
    'has a token of its service account',
    ({ spec }) => delete spec.template.spec.automountServiceAccountToken,
  ],
];

/** The paths of an API, with an id for each parameter. */
const pathsOf = (service: string): string[] =>
  Object.keys((parse(read('services', service, 'openapi.yaml')) as { paths: object }).paths).map((path) =>
    path.replaceAll(/\{\w+\}/g, '6f1f3c1e-2a53-4c27-9d3d-0c6b5a1f2e90'),
  );

describe('the Helm chart', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'helm-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  withHelm.each(['values.yaml', ...VALUES])('passes its lint with %s', (file) => {
    const { status, stdout } = run('lint', '--strict', '.', '--values', file);
    expect(stdout).toContain('0 chart(s) failed');
    expect(status).toBe(0);
  });

  withHelm.each(VALUES)('makes manifests without a fault of %s', (file) => {
    expect(faultsOf(render(file))).toEqual([]);
  });

  withHelm('lets in nobody where nobody is named, and out to one address where that is', () => {
    const values = join(folder, 'nobody.yaml');
    const settings = "{ ENDPOINT_ALLOWED_CIDRS: '10.1.2.3, fd00::1, ' }";
    const empty = 'networkPolicy: { metricsFrom: [], dns: [] }';
    writeFileSync(values, `${empty}\nendpoints: { settings: ${settings} }`);
    const text = JSON.stringify(find(render(`${SMALL},${values}`), POLICY).spec);
    expect(text).not.toMatch(/"admin"|"from"|"port":53/);
    expect(text).not.toContain('"/32"');
    expect(text).toMatch(/"10\.1\.2\.3\/32".*"fd00::1\/128"/);
  });

  withHelm('makes manifests in which each fault is found that a schema misses', () => {
    const manifests = render(THREE_ZONES);
    for (const [name, fault, plant] of PLANTED) {
      const changed = structuredClone(manifests);
      plant(find(changed, name));
      expect(faultsOf(changed)).toContain(`${name} ${fault}`);
    }
    const open = manifests.filter((manifest) => nameOf(manifest) !== POLICY);
    expect(faultsOf(open)).toEqual([`${WORKER} has no NetworkPolicy`]);
  });

  withBoth('makes manifests that the schema of Kubernetes takes', () => {
    const files = VALUES.map((values) => {
      const file = join(folder, values);
      writeFileSync(file, run('template', 'webhooks', CHART, '--values', values).stdout);
      return file;
    });
    // It knows no custom resources, and warns of them.
    const { stdout, stderr } = spawnSync(validate ?? '', ['--strict', '--no-warn', ...files], {
      encoding: 'utf8',
    });
    expect(`${stdout}${stderr}`.split('\n').filter((line) => !line.startsWith('INFO'))).toEqual(['']);
  });

  withHelm('takes a digest before a tag, and changes one service alone', () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const before = render(SMALL).map((manifest) => JSON.stringify(manifest));
    const after = render(SMALL, ['ingest.image.tag=0.2.0', `ingest.image.digest=${digest}`]);
    const changed = after.filter((manifest) => !before.includes(JSON.stringify(manifest)));
    expect(changed.map(nameOf)).toEqual([INGEST]);
    expect(changed.map((manifest) => containerOf(manifest).image)).toEqual([
      `registry.example.com/webhooks/ingest@${digest}`,
    ]);
  });

  withHelm('makes a new Job of topics for a new image of config-api', () => {
    const jobsOf = (set: string[]): string[] =>
      render(SMALL, set).flatMap((manifest) => (manifest.kind === 'Job' ? nameOf(manifest) : []));
    const [first, again, other] = [[], [], ['configApi.image.tag=0.2.0']].map((set) => jobsOf(set)[0]);
    expect(first).toBe(again);
    expect(other).not.toBe(first);
  });

  withHelm('writes a number as it stands in the values', () => {
    const values = join(folder, 'number.yaml');
    writeFileSync(
      values,
      'ingest: { settings: { MAX_PENDING_BYTES: 67108864, TENANT_REQUESTS_PER_SECOND: 0 } }',
    );
    const { env } = containerOf(find(render(`${SMALL},${values}`), INGEST));
    expect(env).toContainEqual({ name: 'MAX_PENDING_BYTES', value: '67108864' });
    expect(env).toContainEqual({ name: 'TENANT_REQUESTS_PER_SECOND', value: '0' });
  });

  withHelm.each([
    ['ingress.enabled=true', 'exclude each other'],
    ['ingest.settings.MAX_PENDING_BYTE=1', "'MAX_PENDING_BYTE' not allowed"],
    ['kafka.settings.KAFKA_BROKERS=', 'KAFKA_BROKERS of configApi is required'],
    ['deliveryWorker.autoscaling.maxReplicas=13', '/deliveryWorker/autoscaling/maxReplicas'],
    [
      'httpRoute.enabled=false,ingress.enabled=true,configApi.host=,ingest.host=,queryApi.host=,console.enabled=false,canary.enabled=false',
      'ingress.enabled: no service has a host',
    ],
  ])('refuses %s', (setting, message) => {
    expect(() => render(THREE_ZONES, [setting])).toThrow(message);
  });

  withHelm('has every alert and dashboard in its package', () => {
    run('package', '.', '--destination', folder);
    const [archive = ''] = globSync('*.tgz', { cwd: folder });
    expect(render(join(CHART, THREE_ZONES), [], join(folder, archive))).toEqual(render(THREE_ZONES));
    const rules = find(render(THREE_ZONES), 'PrometheusRule webhooks-rules').spec;
    expect(rules).toEqual(parse(read('deploy', 'prometheus', 'alerts.yaml')));
    const dashboards = globSync('deploy/dashboards/*.json', { cwd: ROOT }).map((file) =>
      basename(file, '.json'),
    );
    for (const name of dashboards) find(render(THREE_ZONES), `ConfigMap webhooks-dashboard-${name}`);
  });

  withHelm.each(['config-api', 'ingest', 'query-api'])('leads each path of %s to it alone', (service) => {
    const routes = render(THREE_ZONES).filter(({ kind }) => kind === 'HTTPRoute');
    for (const path of pathsOf(service)) {
      const taken = routes.filter(({ spec }) => {
        const [match] = spec.rules?.[0]?.matches ?? [];
        return match?.path.type === 'RegularExpression' && new RegExp(match.path.value).test(path);
      });
      expect(taken.map(nameOf)).toEqual([`HTTPRoute webhooks-${service}`]);
    }
  });
});

it('the schema of the values has the settings of all services', () => {
  const program = join(ROOT, 'packages', 'tooling', 'helm-schema.mjs');
  const printed = execFileSync(process.execPath, [program, '--print'], { encoding: 'utf8' });
  expect(read('deploy', 'helm', 'webhooks', 'values.schema.json')).toBe(printed);
});

it('the network policies open the ports that config-api admits by default', async () => {
  const { configApi } = parse(read('deploy', 'helm', 'webhooks', 'values.yaml')) as {
    configApi: { settings: { ENDPOINT_PORTS: string } };
  };
  const admitted = (await readDescriptors('config-api')).get('ENDPOINT_PORTS')?.fallback;
  expect(configApi.settings.ENDPOINT_PORTS).toBe(admitted);
});
