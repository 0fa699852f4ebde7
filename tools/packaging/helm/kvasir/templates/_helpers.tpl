{{- define "kvasir.name" -}}
{{- printf "%s" .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "kvasir.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "kvasir.labels" -}}
{{ include "kvasir.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "kvasir.hasRedis" -}}
{{- if or .Values.store.redis .Values.store.redisSecret -}}true{{- end -}}
{{- end -}}

{{- define "kvasir.keySecret" -}}
{{- if .Values.apiKeys.secret -}}
{{ .Values.apiKeys.secret }}
{{- else if .Values.apiKeys.values -}}
{{ include "kvasir.name" . }}-api-keys
{{- end -}}
{{- end -}}

{{- define "kvasir.check" -}}
{{- if and (not (include "kvasir.keySecret" .)) (not .Values.insecure) -}}
{{- fail "apiKeys is empty; expected apiKeys.secret, apiKeys.values or insecure=true" -}}
{{- end -}}
{{- if and .Values.gpu.enabled (or .Values.store.volume.enabled (include "kvasir.hasRedis" .)) -}}
{{- fail "gpu.enabled is true; with a store expected false, since pages of a GPU are not stored" -}}
{{- end -}}
{{- end -}}
