/**
 * A Spring AI chat model that runs in this process, {@link
 * dev.kvasir.spring.KvasirSpringChatModel}, and its auto-configuration, {@link
 * dev.kvasir.spring.KvasirAutoConfiguration}. Prompts become JSON of the OpenAI API for the chat
 * service of kvasir-server.
 *
 * <p>Uses kvasir-server, the store addresses of kvasir-store, and the root and cache packages of
 * kvasir-core.
 */
package dev.kvasir.spring;
