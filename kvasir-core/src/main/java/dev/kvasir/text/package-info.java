/**
 * Tokenizers and chat templates. {@link dev.kvasir.text.Tokenizer} reads the vocabularies of GGUF
 * files and of Hugging Face folders; {@link dev.kvasir.text.TextStream} decodes generated tokens
 * incrementally. {@link dev.kvasir.text.ChatTemplate} renders conversations as prompts.
 *
 * <p>This package uses {@code dev.kvasir.format}, {@code dev.kvasir.template} and {@code
 * dev.kvasir.error}.
 */
package dev.kvasir.text;
