/**
 * Inspects the keys and values of a model: {@link dev.kvasir.lab.inspect.KeyRanges} measures the
 * ranges of key channels, and {@link dev.kvasir.lab.inspect.PatternFit} the effect of PatternKV's
 * patterns. The package uses the lab package text and the cache, codec and kernel packages of
 * kvasir-core.
 */
package dev.kvasir.lab.inspect;
