{{/* The ways out of a workload: to name servers, and to what it reaches. */}}
{{- define "webhooks.egress" -}}
{{- with .root.Values.networkPolicy.dns }}
{{ toYaml . }}
{{- end }}
{{- range append .facts.reaches .key }}
{{- $block := index $.root.Values . }}
{{- if eq . "endpoints" }}
{{- include "webhooks.egressToEndpoints" $ }}
{{- else if or (ne . "traces") $block.settings.OTEL_EXPORTER_OTLP_ENDPOINT }}
{{- with $block.egress }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}
{{- range eq .key "console" | ternary (list "configApi" "queryApi") list }}
- to: [{ podSelector: { matchLabels: {{ include "webhooks.selector" (dict "root" $.root "key" .) | fromYaml | toJson }} } }]
  ports: [{ port: http, protocol: TCP }]
{{- end }}
{{- end }}

{{/*
The way to endpoints: the egress proxy alone, or public addresses and the exceptions of ENDPOINT_ALLOWED_CIDRS, on ENDPOINT_PORTS.
config-api goes there for proofs only.
*/}}
{{- define "webhooks.egressToEndpoints" -}}
{{- $endpoints := .root.Values.endpoints }}
{{- $proof := .root.Values.configApi.settings.REGISTRATION_PROOF | default "none" }}
{{- if and (eq .key "configApi") (eq $proof "none") }}
{{- else if $endpoints.settings.EGRESS_PROXY }}
{{ required "endpoints.egress is required with EGRESS_PROXY: the way to the proxy" $endpoints.egress | toYaml }}
{{- else }}
- to:
    # A service knows more special addresses, and refuses them itself.
    - ipBlock: { cidr: 0.0.0.0/0, except: [10.0.0.0/8, 100.64.0.0/10, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16] }
    - ipBlock: { cidr: '2000::/3' }
    {{- range splitList "," ($endpoints.settings.ENDPOINT_ALLOWED_CIDRS | default "" | nospace) | compact }}
    - ipBlock: { cidr: {{ contains "/" . | ternary . (printf "%s/%s" . (contains ":" . | ternary "128" "32")) | quote }} }
    {{- end }}
  ports:
    {{- range splitList "," .root.Values.configApi.settings.ENDPOINT_PORTS }}
    {{- $range := splitList "-" (trim .) }}
    - { port: {{ first $range }}, {{ if rest $range }}endPort: {{ last $range }}, {{ end }}protocol: TCP }
    {{- end }}
{{- end }}
{{- end }}
