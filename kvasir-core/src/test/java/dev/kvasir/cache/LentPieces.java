package dev.kvasir.cache;

import dev.kvasir.codec.Form;
import dev.kvasir.memory.SharedMapping;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A stored cache as in a mapped file: its blocks lie at odd addresses, and may stay there. */
final class LentPieces implements CacheForm, AutoCloseable {
  private final SharedMapping mapping = new SharedMapping();
  private final CacheForm pieces;
  private final List<MemorySegment> blocks = new ArrayList<>();

  LentPieces(CacheForm pieces) {
    this.pieces = pieces;
    for (int i = 0; i < pieces.blocks(); i++) {
      MemorySegment block = MemorySegment.ofArray(pieces.block(i));
      blocks.add(mapping.arena().allocate(1 + block.byteSize(), 64).asSlice(1).copyFrom(block));
    }
  }

  /** As a file is that somebody writes to against the rules. */
  void overwrite() {
    blocks.forEach(block -> block.fill((byte) 0));
  }

  @Override
  public int length() {
    return pieces.length();
  }

  @Override
  public int blocks() {
    return blocks.size();
  }

  @Override
  public int end(int index) {
    return pieces.end(index);
  }

  @Override
  public byte[] block(int index) {
    return pieces.block(index);
  }

  @Override
  public Form blockToRead(int index) {
    return Form.of(blocks.get(index).asReadOnly().asByteBuffer());
  }

  @Override
  public byte[] rest() {
    return pieces.rest();
  }

  @Override
  public Optional<SharedMapping> mapping() {
    return Optional.of(mapping);
  }

  @Override
  public void close() {
    mapping.release();
  }
}
