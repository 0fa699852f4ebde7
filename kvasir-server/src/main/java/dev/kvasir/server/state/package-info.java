/**
 * The state of a running server: {@link dev.kvasir.server.state.ServerState} reports it as JSON for
 * the web page and as gauges for Prometheus.
 *
 * <p>This package uses {@code openai}, {@code answer}, {@code store} and {@code watch} of the
 * server.
 */
package dev.kvasir.server.state;
