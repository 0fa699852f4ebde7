{{- define "kvasir.pod" -}}
metadata:
  labels:
    {{- include "kvasir.selector" . | nindent 4 }}
    llm-d.ai/engine-type: vllm # the names of its metrics
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if or .Values.podAnnotations .Values.apiKeys.values }}
  annotations:
    {{- if .Values.apiKeys.values }}
    checksum/api-keys: {{ .Values.apiKeys.values | toJson | sha256sum }}
    {{- end }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  # Draining, then the end of the other completions and pending writes to a store.
  terminationGracePeriodSeconds: {{ add .Values.server.preStopSeconds .Values.server.drainSeconds 30 }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  {{- with .Values.image.pullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.gpu.runtimeClass }}
  runtimeClassName: {{ . }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  containers:
    - name: kvasir
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: ["/bin/bash", "/opt/kvasir/bin/kvasir"]
      args:
        {{- include "kvasir.arguments" . | nindent 8 }}
      env:
        - name: HF_HOME
          value: /downloads
        {{- with .Values.server.javaOptions }}
        - name: KVASIR_JAVA_OPTS
          value: {{ . | quote }}
        {{- end }}
        {{- if .Values.model.tokenSecret }}
        - name: HF_TOKEN
          valueFrom:
            secretKeyRef:
              name: {{ .Values.model.tokenSecret }}
              key: {{ .Values.model.tokenKey }}
        {{- end }}
        {{- if .Values.store.redisSecret }}
        - name: KVASIR_REDIS
          valueFrom:
            secretKeyRef:
              name: {{ .Values.store.redisSecret }}
              key: {{ .Values.store.redisKey }}
        {{- else if .Values.store.redis }}
        - name: KVASIR_REDIS
          value: {{ .Values.store.redis | quote }}
        {{- end }}
      ports:
        - name: http
          containerPort: 8080
        - name: metrics
          containerPort: 9090
      # The ports open when the model is loaded.
      startupProbe:
        httpGet:
          path: /readyz
          port: metrics
        periodSeconds: 5
        failureThreshold: {{ div .Values.server.startupSeconds 5 }}
      livenessProbe:
        httpGet:
          path: /livez
          port: metrics
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet:
          path: /readyz
          port: metrics
        periodSeconds: 5
        timeoutSeconds: 5
      {{- if .Values.server.preStopSeconds }}
      lifecycle:
        preStop:
          sleep:
            seconds: {{ .Values.server.preStopSeconds }}
      {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: ["ALL"]
      resources:
        {{- $resources := deepCopy .Values.resources }}
        {{- if .Values.gpu.enabled }}
        {{- $limits := merge (dict .Values.gpu.resource .Values.gpu.count) (default dict $resources.limits) }}
        {{- $_ := set $resources "limits" $limits }}
        {{- end }}
        {{- toYaml $resources | nindent 8 }}
      volumeMounts:
        # Native libraries are unpacked here, so it must not be mounted noexec.
        - name: tmp
          mountPath: /tmp
        - name: downloads
          mountPath: /downloads
        {{- if .Values.model.volume }}
        - name: models
          mountPath: /models
          readOnly: true
        {{- end }}
        {{- if include "kvasir.keySecret" . }}
        - name: api-keys
          mountPath: /etc/kvasir
          readOnly: true
        {{- end }}
        {{- if .Values.store.volume.enabled }}
        - name: store
          mountPath: /store
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {}
    - name: downloads
      {{- if .Values.model.downloads.claim }}
      persistentVolumeClaim:
        claimName: {{ .Values.model.downloads.claim }}
      {{- else }}
      emptyDir: {}
      {{- end }}
    {{- with .Values.model.volume }}
    - name: models
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- if include "kvasir.keySecret" . }}
    - name: api-keys
      secret:
        secretName: {{ include "kvasir.keySecret" . }}
        items:
          - key: {{ .Values.apiKeys.key }}
            path: api-keys
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
