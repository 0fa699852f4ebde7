/**
 * Chat on top of sessions. {@link dev.kvasir.chat.ChatService} renders conversations, {@link
 * dev.kvasir.chat.Admission} reserves memory, {@link dev.kvasir.chat.RequestQueue} runs admitted
 * requests, and {@link dev.kvasir.chat.Completion} passes their events on. Generated text is parsed
 * here for stop sequences, reasoning and tool calls.
 *
 * <p>{@link dev.kvasir.ChatModel} is the public API of this package, which therefore uses the root
 * package. It also uses {@code text}, {@code grammar}, {@code sampling}, {@code format}, {@code
 * engine}, {@code model}, {@code cache}, {@code codec} and {@code memory}. Applications use the
 * root package only.
 */
package dev.kvasir.chat;
