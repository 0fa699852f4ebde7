/**
 * Metrics and logging. {@link dev.kvasir.server.watch.Metrics} writes the Prometheus text format.
 *
 * <p>This package uses no other package of the server.
 */
package dev.kvasir.server.watch;
