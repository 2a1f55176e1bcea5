{{/*
The settings of a workload as a list of `env`. Later ones win: those that the chart knows, those of the blocks that it
reaches, its own. YAML reads 67108864 as a float, which would be written as 6.7108864e+07.
*/}}
{{- define "webhooks.env" -}}
{{- $settings := deepCopy .facts.settings }}
{{- range append .facts.reaches .key }}
{{- range $name, $value := (index $.root.Values .).settings }}
{{- $_ := set $settings $name $value }}
{{- end }}
{{- end }}
{{- range $name, $value := $settings }}
{{- $text := kindIs "float64" $value | ternary (int64 $value | toString) (toString $value) }}
- name: {{ $name }}
  value: {{ required (printf "%s of %s is required" $name $.key) $text | quote }}
{{- end }}
{{- range $name, $_ := include "webhooks.files" . | fromYaml }}
{{- if hasSuffix "_FILE" $name }}
- name: {{ $name }}
  value: /etc/webhooks/{{ $name }}
{{- end }}
{{- end }}
{{- with .values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The files of a workload, by name: of the blocks that it reaches, and its own. */}}
{{- define "webhooks.files" -}}
{{- $files := dict }}
{{- range append .facts.reaches .key }}
{{- range $name, $file := (index $.root.Values .).files }}
{{- $_ := set $files $name $file }}
{{- end }}
{{- end }}
{{- toYaml $files }}
{{- end }}

{{/* One volume with all files, so that a certificate and its key are replaced together. No subPath: that is never renewed. */}}
{{- define "webhooks.volumes" -}}
{{- with include "webhooks.files" . | fromYaml }}
volumes:
  - name: files
    projected:
      defaultMode: 0440
      sources:
        {{- range $name, $file := . }}
        - secret:
            name: {{ $file.secret }}
            items: [{ key: {{ $file.key }}, path: {{ $name }} }]
        {{- end }}
{{- end }}
{{- end }}
