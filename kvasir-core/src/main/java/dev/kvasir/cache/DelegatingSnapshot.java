package dev.kvasir.cache;

import dev.kvasir.codec.Snapshot;
import dev.kvasir.memory.SharedMapping;
import java.util.Optional;

/** A snapshot with the blocks of another one. */
class DelegatingSnapshot implements CacheSnapshot {
  private final CacheSnapshot blocks;

  DelegatingSnapshot(CacheSnapshot blocks) {
    this.blocks = blocks;
  }

  @Override
  public int length() {
    return blocks.length();
  }

  @Override
  public int blocks() {
    return blocks.blocks();
  }

  @Override
  public int end(int index) {
    return blocks.end(index);
  }

  @Override
  public byte[] block(int index) {
    return blocks.block(index);
  }

  @Override
  public Snapshot blockToRead(int index) {
    return blocks.blockToRead(index);
  }

  @Override
  public Optional<SharedMapping> mapping() {
    return blocks.mapping();
  }

  @Override
  public boolean hasImmutableBlocks() {
    return blocks.hasImmutableBlocks();
  }

  @Override
  public byte[] residual() {
    return blocks.residual();
  }
}
