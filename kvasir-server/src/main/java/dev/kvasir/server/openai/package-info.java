/**
 * Request and response formats of the OpenAI API. {@link dev.kvasir.server.openai.RequestReader}
 * parses requests, and {@link dev.kvasir.server.openai.ResponseBuilder} builds responses.
 *
 * <p>This package uses {@code answer} and {@code api} of the server.
 */
package dev.kvasir.server.openai;
