/**
 * The formats in which models write tool calls and reasoning. {@link
 * dev.kvasir.chat.syntax.MessageSyntax} recognises the format of a chat template, {@link
 * dev.kvasir.chat.syntax.MessageParser} splits generated text into content, reasoning and calls,
 * and {@link dev.kvasir.chat.syntax.CallGrammar} constrains text to a call.
 *
 * <p>Parsers read one character at a time. What they deliver therefore does not depend on how the
 * text is split into tokens.
 */
package dev.kvasir.chat.syntax;
