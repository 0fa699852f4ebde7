/**
 * CommVQ: vectors as sums of rows of trained codebooks. The codebooks of keys commute with rotary
 * embeddings. {@link dev.kvasir.codec.commvq.CommvqCodec} encodes by a beam search over {@link
 * dev.kvasir.codec.commvq.AdditiveStages}; {@link dev.kvasir.codec.commvq.CommvqProfile} holds the
 * codebooks of a model.
 *
 * <p>Uses the packages codec, error, kernel, memory, page and profile.
 */
package dev.kvasir.codec.commvq;
