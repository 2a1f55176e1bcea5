{{/* The release's name before a workload's. 36 characters leave room for it and for what Kubernetes appends to the name of a StatefulSet. */}}
{{- define "webhooks.fullname" -}}
{{- printf "%s-%s" (.root.Release.Name | trunc 36 | trimSuffix "-") (kebabcase .key) }}
{{- end }}

{{/* Labels that never change: of selectors, and of pods, so that an upgrade of one service restarts no other. */}}
{{- define "webhooks.selector" -}}
app.kubernetes.io/name: webhooks
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ kebabcase .key }}
{{- end }}

{{- define "webhooks.metadata" -}}
name: {{ include "webhooks.fullname" . }}{{ with .suffix }}-{{ . }}{{ end }}
labels:
  {{- include "webhooks.selector" . | nindent 2 }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/*
What the chart knows of each workload. It is a StatefulSet when its pods need names that stay: a process that starts takes
the place of its namesake in Kafka's groups. `reaches` names the blocks of values that hold the settings, the files and the
way to what it needs. `path` is what belongs to it of the public address of the APIs, which share /integration/v1/webhooks: a `ref` is a UUID.
*/}}
{{- define "webhooks.facts" -}}
configApi:
  kind: Deployment
  port: 8081
  reaches: [kafka, mongodb, issuer, endpoints]
  settings: { TOPICS_CREATE: 'false' }
  path: ^/integration/v1/(egress|alert-endpoints(/[^/]+)?|webhooks(/[0-9A-Fa-f-]{36}(/(secret|policy|changes))?)?)/?$
ingest:
  kind: Deployment
  port: 8082
  reaches: [kafka, issuer, traces]
  settings: { TOPICS_CREATE: 'false' }
  path: ^/integration/v1/events$
deliveryWorker:
  kind: StatefulSet
  reaches: [kafka, endpoints, traces]
  settings: { TOPICS_CREATE: 'false' }
queryApi:
  kind: StatefulSet
  port: 8083
  reaches: [kafka, mongodb, issuer, traces]
  settings: { TOPICS_CREATE: 'false' }
  path: ^/integration/v1/((pix|statements)/.*|notifications(/.*)?|webhooks/((deliveries|redeliveries|overview)(/.*)?|[0-9A-Fa-f-]{36}/(health|test)/?))$
console:
  kind: Deployment
  port: 8084
  reaches: [issuer]
  settings:
    CONFIG_API_URL: http://{{ include "webhooks.fullname" (dict "root" . "key" "configApi") }}:8081
    QUERY_API_URL: http://{{ include "webhooks.fullname" (dict "root" . "key" "queryApi") }}:8083
    PUBLIC_URL: {{ with .Values.console.host }}https://{{ . }}{{ else }}''{{ end }}
canary:
  kind: Deployment
  port: 8085
  reaches: []
  args: [dist/src/main.js, canary]
  probe: /metrics
  # Its profile is /etc/webhooks/profiles.json.
  settings: { XDG_CONFIG_HOME: /etc }
topics:
  kind: Job
  reaches: [kafka]
  args: [dist/src/topics.js, apply]
  settings: {}
{{- end }}

{{/* The facts of the workloads that are enabled, by the name of their block of values. */}}
{{- define "webhooks.workloads" -}}
{{- range $key, $facts := include "webhooks.facts" . | fromYaml }}
{{- if (index $.Values $key).enabled }}
{{ $key }}: {{ toJson $facts }}
{{- end }}
{{- end }}
{{- end }}
