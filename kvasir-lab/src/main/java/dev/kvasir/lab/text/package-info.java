/**
 * The prose that evaluations read, and the tools that generate and read it. {@link
 * dev.kvasir.lab.text.BundledText} provides texts, {@link dev.kvasir.lab.text.GeneratedText}
 * generates new ones, and {@link dev.kvasir.lab.text.BlockwiseReading} reads a text into a cache.
 * The package uses the cache, engine and sampling packages of kvasir-core.
 */
package dev.kvasir.lab.text;
