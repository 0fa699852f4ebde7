/**
 * The state of a running server: {@link dev.kvasir.server.state.ServerState} reports it as JSON for
 * the web page and as gauges for Prometheus.
 *
 * <p>This package uses {@code watch} of the server, kvasir-store, and {@code dev.kvasir.chat} of
 * kvasir-core.
 */
package dev.kvasir.server.state;
