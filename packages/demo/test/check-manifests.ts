// What the schema of Kubernetes takes and an API server, or a cluster, refuses.

type Labels = Record<string, string>;

interface Selector {
  matchLabels?: Labels;
  [label: string]: string | Labels | undefined;
}

interface Container {
  name: string;
  image: string;
  env: { name: string; value?: string }[];
  ports?: { name: string }[];
  livenessProbe?: object;
  readinessProbe?: object;
  resources: { requests: Labels; limits: Labels };
  securityContext: Record<string, unknown>;
  volumeMounts?: { name: string }[];
}

interface Spec {
  replicas?: number;
  selector?: Selector;
  podSelector?: Selector;
  scaleTargetRef?: { name: string };
  rules?: { matches?: { path: { type: string; value: string } }[] }[];
  minAvailable?: number;
  maxUnavailable?: number;
  template: {
    metadata: { labels: Labels };
    spec: {
      automountServiceAccountToken?: boolean;
      containers: [Container];
      securityContext: Record<string, unknown>;
      volumes?: { name: string }[];
    };
  };
}

/** A manifest as far as the tests look into it. */
export interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: Spec;
}

export const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;
export const containerOf = ({ spec }: Manifest): Container => spec.template.spec.containers[0];
const isWorkload = ({ kind }: Manifest): boolean => /^(Deployment|StatefulSet|Job)$/.test(kind);

/** The labels by which a manifest selects pods; a Service has them without `matchLabels`. */
const selectorOf = ({ spec }: Manifest): Selector | undefined => {
  const selector = spec.podSelector ?? spec.selector;
  return selector?.matchLabels ?? selector;
};
const selects = (labels: Selector, { spec }: Manifest): boolean =>
  Object.entries(labels).every(([name, value]) => spec.template.metadata.labels[name] === value);

const UNITS = ['m', '', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi'];
const FACTORS = [0.001, 1, 1e3, 1e6, 1e9, 2 ** 10, 2 ** 20, 2 ** 30];
/** NaN for what is no quantity. */
const amountOf = (quantity = ''): number => {
  const [, number = 'none', unit = ''] = /^(\d+(?:\.\d+)?)(\w*)$/.exec(quantity) ?? [];
  return Number(number) * (FACTORS[UNITS.indexOf(unit)] ?? Number.NaN);
};
const handlersOf = (probe: object): string[] =>
  Object.keys(probe).filter((name) => /^(httpGet|exec|tcpSocket|grpc)$/.test(name));

/** Pod Security "restricted", and the harder rules of ours. */
const POD = { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } };
const CONTAINER = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};
const has = (value: Record<string, unknown>, part: object): boolean =>
  Object.entries(part).every(([name, expected]) => JSON.stringify(value[name]) === JSON.stringify(expected));

type IsFaulty = (manifest: Manifest, all: readonly Manifest[]) => boolean;
type Faults = readonly (readonly [string, IsFaulty])[];

const OF_MANIFESTS: Faults = [
  ['is a Secret', ({ kind }) => kind === 'Secret'],
  [
    'selects no pod',
    (manifest, all) => {
      const labels = selectorOf(manifest);
      const pods = isWorkload(manifest) ? [manifest] : all.filter(isWorkload);
      return labels !== undefined && !pods.some((pod) => selects(labels, pod));
    },
  ],
  [
    'has both a minimum and a maximum',
    ({ spec }) => spec.minAvailable !== undefined && spec.maxUnavailable !== undefined,
  ],
];

const OF_WORKLOADS: Faults = [
  [
    'has no NetworkPolicy',
    (workload, all) =>
      !all.some(({ spec }) => spec.podSelector && selects(spec.podSelector.matchLabels ?? {}, workload)),
  ],
  [
    'has replicas and an autoscaler',
    ({ spec, metadata }, all) =>
      spec.replicas !== undefined && all.some((other) => other.spec.scaleTargetRef?.name === metadata.name),
  ],
  [
    'is not restricted',
    (workload) =>
      !has(workload.spec.template.spec.securityContext, POD) ||
      !has(containerOf(workload).securityContext, CONTAINER),
  ],
  [
    'has a token of its service account',
    ({ spec }) => spec.template.spec.automountServiceAccountToken !== false,
  ],
  [
    'mounts what is no volume',
    (workload) => {
      const volumes = (workload.spec.template.spec.volumes ?? []).map(({ name }) => name);
      return (containerOf(workload).volumeMounts ?? []).some(({ name }) => !volumes.includes(name));
    },
  ],
  [
    'has a bad quantity',
    (workload) =>
      Object.values(containerOf(workload).resources)
        .flatMap((resources) => Object.values(resources))
        .some((quantity) => Number.isNaN(amountOf(quantity))),
  ],
  [
    'requests more than its limit',
    (workload) => {
      const { requests, limits } = containerOf(workload).resources;
      return Object.entries(limits).some(([name, limit]) => amountOf(requests[name]) > amountOf(limit));
    },
  ],
  [
    'has a bad port name',
    (workload) =>
      (containerOf(workload).ports ?? []).some(({ name }) => !/^[a-z][a-z0-9-]{0,14}$/.test(name)),
  ],
  [
    'has a probe with other than one handler',
    (workload) => {
      const { livenessProbe, readinessProbe } = containerOf(workload);
      return [livenessProbe, readinessProbe].some((probe) => probe && handlersOf(probe).length !== 1);
    },
  ],
];

/** All faults of the manifests of a release, with the name of what has each. */
export const faultsOf = (manifests: readonly Manifest[]): string[] =>
  manifests.flatMap((manifest) =>
    [...OF_MANIFESTS, ...(isWorkload(manifest) ? OF_WORKLOADS : [])].flatMap(([fault, isFaulty]) =>
      isFaulty(manifest, manifests) ? `${nameOf(manifest)} ${fault}` : [],
    ),
  );
