/** Traces and metrics of the server in the protocol of OpenTelemetry. */
package dev.kvasir.telemetry;
