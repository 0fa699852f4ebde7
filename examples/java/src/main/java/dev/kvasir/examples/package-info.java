/** Examples that the documentation shows; a test runs each of them. They use {@code dev.kvasir}. */
package dev.kvasir.examples;
