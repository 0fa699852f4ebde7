/**
 * An OpenAI-compatible HTTP server with a fixed KV-cache budget. {@link
 * dev.kvasir.server.KvasirServer} listens on a port and passes requests to the chat service of
 * kvasir-core; {@link dev.kvasir.server.ServerOptions} configures it.
 *
 * <p>This package uses all packages of the module, kvasir-store, and the root and {@code chat}
 * packages of kvasir-core.
 */
package dev.kvasir.server;
