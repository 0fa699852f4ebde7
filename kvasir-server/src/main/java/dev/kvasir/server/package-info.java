/**
 * An OpenAI-compatible HTTP server with a fixed KV-cache budget. {@link
 * dev.kvasir.server.KvasirServer} listens on a port; {@link dev.kvasir.server.ChatService} serves
 * the same requests inside the process. {@link dev.kvasir.server.ServerOptions} configures both.
 *
 * <p>This package uses all packages of the module and the public API of kvasir-core.
 */
package dev.kvasir.server;
