/**
 * LangChain4j models that run in this process: {@link dev.kvasir.langchain4j.KvasirChatModel} and
 * {@link dev.kvasir.langchain4j.KvasirStreamingChatModel}. They translate requests to the JSON of
 * the OpenAI API and pass them to the chat service of kvasir-server.
 *
 * <p>Uses kvasir-server, the store addresses of kvasir-store, and the root and cache packages of
 * kvasir-core.
 */
package dev.kvasir.langchain4j;
