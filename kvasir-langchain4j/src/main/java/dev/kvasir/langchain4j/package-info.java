/**
 * LangChain4j models that run in this process: {@link dev.kvasir.langchain4j.KvasirChatModel} and
 * {@link dev.kvasir.langchain4j.KvasirStreamingChatModel}. They translate requests to those of
 * {@link dev.kvasir.ChatModel} and its responses back.
 *
 * <p>Uses the root package of kvasir-core, and its sampling options.
 */
package dev.kvasir.langchain4j;
