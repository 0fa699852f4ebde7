package dev.kvasir.codec;

/** A method that keeps nothing of a sequence: one object serves them all. */
public interface StatelessCodec extends PageCodec, SequenceCodec {
  @Override
  default SequenceCodec begin() {
    return this;
  }

  @Override
  default SequenceCodec fork() {
    return this;
  }
}
