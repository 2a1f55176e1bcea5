{{/* The image: a digest beats a tag, and without both it is the version of the chart's application. */}}
{{- define "webhooks.image" -}}
{{- $image := .values.image | default .root.Values.configApi.image }}
{{- $version := printf ":%s" ($image.tag | default .root.Chart.AppVersion) }}
{{- with $image.digest }}
{{- $version = printf "@%s" . }}
{{- end }}
{{- printf "%s%s%s" .root.Values.imageRegistry $image.repository $version }}
{{- end }}

{{/* The pod of every workload: what all have, then the fields of `pod`, then those of the workload's own `pod`. */}}
{{- define "webhooks.pod" -}}
metadata:
  labels:
    {{- include "webhooks.selector" . | nindent 4 }}
spec:
  {{- mergeOverwrite (include "webhooks.podSpec" . | fromYaml) (deepCopy .root.Values.pod) .values.pod | toYaml | nindent 2 }}
{{- end }}

{{- define "webhooks.podSpec" -}}
{{- if eq .facts.kind "Job" }}
restartPolicy: OnFailure
{{- end }}
serviceAccountName: {{ include "webhooks.fullname" . }}
automountServiceAccountToken: false
# A Service called `admin` would set ADMIN_PORT.
enableServiceLinks: false
# 20 s more than a service takes at most after SIGTERM.
terminationGracePeriodSeconds: {{ add 20 (div (int64 (dig "settings" "SHUTDOWN_TIMEOUT_MS" 40000 .values)) 1000) }}
topologySpreadConstraints:
  {{- range $topologyKey, $otherwise := .root.Values.topologySpread }}
  - topologyKey: {{ $topologyKey }}
    whenUnsatisfiable: {{ $otherwise }}
    maxSkew: 1
    # The nodes of a zone that is away must not count as free places.
    nodeTaintsPolicy: Honor
    labelSelector:
      matchLabels:
        {{- include "webhooks.selector" $ | nindent 8 }}
  {{- end }}
containers:
  - name: {{ kebabcase .key }}
    image: {{ include "webhooks.image" . }}
    {{- with .facts.args }}
    args: {{ toJson . }}
    {{- end }}
    env:
      {{- include "webhooks.env" . | nindent 6 }}
    {{- include "webhooks.ports" . | nindent 4 }}
    resources:
      {{- toYaml .values.resources | nindent 6 }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
    {{- if include "webhooks.volumes" . }}
    volumeMounts:
      - { name: files, mountPath: /etc/webhooks, readOnly: true }
    {{- end }}
{{- include "webhooks.volumes" . }}
{{- end }}

{{/*
Ports and probes. A balancer that looks every 5 s takes out an API at its second look, while it still serves (SHUTDOWN_DELAY_MS).
The canary has metrics only.
*/}}
{{- define "webhooks.ports" -}}
{{- if ne .facts.kind "Job" }}
ports:
  {{- with .facts.port }}
  - { name: http, containerPort: {{ . }} }
  {{- end }}
  - { name: admin, containerPort: 9090 }
livenessProbe:
  httpGet: { port: admin, path: {{ .facts.probe | default "/livez" }} }
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet: { port: admin, path: {{ .facts.probe | default "/readyz" }} }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end }}
{{- end }}
