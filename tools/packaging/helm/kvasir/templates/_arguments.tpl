{{- define "kvasir.arguments" -}}
- serve
- --host=0.0.0.0
- --port=8080
- --metrics-port=9090
- --kv-memory={{ .Values.cache.memory }}
- --drain={{ .Values.server.drainSeconds }}
{{- range .Values.cache.specs }}
- --kv={{ . }}
{{- end }}
{{- with .Values.model.name }}
- --model={{ . }}
{{- end }}
{{- with .Values.server.context }}
- --context={{ . }}
{{- end }}
{{- with .Values.server.answerTokens }}
- --answer-tokens={{ . }}
{{- end }}
{{- with .Values.server.maxSequences }}
- --max-sequences={{ . }}
{{- end }}
{{- with .Values.server.maxWaiting }}
- --max-waiting={{ . }}
{{- end }}
{{- with .Values.server.timeout }}
- --timeout={{ . }}
{{- end }}
{{- if .Values.gpu.enabled }}
- --device=cuda
{{- end }}
{{- if .Values.store.volume.enabled }}
- --store=/store,{{ .Values.store.volume.budget }}
{{- end }}
{{- if include "kvasir.hasRedis" . }}
- --store=$(KVASIR_REDIS)
{{- end }}
{{- if include "kvasir.keySecret" . }}
- --api-key-file=/etc/kvasir/api-keys
{{- else }}
- --insecure
{{- end }}
{{- range .Values.server.options }}
- {{ . | quote }}
{{- end }}
{{- end -}}
