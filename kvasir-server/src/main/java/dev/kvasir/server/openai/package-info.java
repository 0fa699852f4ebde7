/**
 * Request and response formats of the OpenAI API. {@link dev.kvasir.server.openai.RequestReader}
 * parses requests, and {@link dev.kvasir.server.openai.ResponseBuilder} builds responses.
 *
 * <p>This package uses {@code api} of the server and {@code dev.kvasir.chat} of kvasir-core.
 */
package dev.kvasir.server.openai;
