/**
 * The Responses API of OpenAI. {@link dev.kvasir.server.responses.ResponsesReader} translates a
 * request to one of chat completions, {@link dev.kvasir.server.responses.ResponsesFormat} writes
 * the response, and {@link dev.kvasir.server.responses.ResponseStore} keeps it for later requests.
 *
 * <p>This package uses {@code api} and {@code openai} of the server.
 */
package dev.kvasir.server.responses;
