/**
 * The Messages API of Anthropic. {@link dev.kvasir.server.anthropic.MessagesReader} translates a
 * request to one of chat completions, {@link dev.kvasir.server.anthropic.MessagesFormat} writes the
 * response, and {@link dev.kvasir.server.anthropic.MessagesError} writes errors.
 *
 * <p>This package uses {@code api} of the server.
 */
package dev.kvasir.server.anthropic;
