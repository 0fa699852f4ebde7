/**
 * Endpoints of llama.cpp's server that its clients use. {@link
 * dev.kvasir.server.llamacpp.InfillReader} translates a request to fill a gap to a text completion,
 * and {@link dev.kvasir.server.llamacpp.InfillFormat} writes its response.
 *
 * <p>This package uses {@code api} and {@code openai} of the server.
 */
package dev.kvasir.server.llamacpp;
