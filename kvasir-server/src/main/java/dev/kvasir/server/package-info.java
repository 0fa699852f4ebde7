/** An OpenAI-compatible server that holds many conversations in a fixed memory. */
package dev.kvasir.server;
