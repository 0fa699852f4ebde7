/**
 * PatternKV: quantizes the residual between a vector and the nearest of a few patterns. {@link
 * dev.kvasir.codec.patternkv.PatternkvCodec} is the method; a sequence mines its patterns from its
 * first blocks and adds one per block ({@link dev.kvasir.codec.patternkv.PatternSet}).
 *
 * <p>Uses the packages codec, codec.uniform, error, kernel, memory and page.
 */
package dev.kvasir.codec.patternkv;
