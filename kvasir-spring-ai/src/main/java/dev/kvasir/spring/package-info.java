/**
 * A Spring AI chat model that runs in this process, {@link
 * dev.kvasir.spring.KvasirSpringChatModel}, and its auto-configuration, {@link
 * dev.kvasir.spring.KvasirAutoConfiguration}. They translate prompts to requests of {@link
 * dev.kvasir.ChatModel} and its responses back.
 *
 * <p>Uses the root package of kvasir-core, and its sampling options.
 */
package dev.kvasir.spring;
