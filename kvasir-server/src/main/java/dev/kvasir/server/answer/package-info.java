/**
 * Scheduling of requests: {@link dev.kvasir.server.answer.Admission} reserves memory, {@link
 * dev.kvasir.server.answer.RequestQueue} runs admitted requests, and {@link
 * dev.kvasir.server.answer.Completion} passes their events to the writer. Generated text is parsed
 * here for stop sequences, reasoning and tool calls.
 *
 * <p>This package uses {@code store}, {@code watch} and {@code api} of the server.
 */
package dev.kvasir.server.answer;
