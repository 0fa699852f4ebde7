package dev.kvasir.cache;

import dev.kvasir.codec.Snapshot;
import dev.kvasir.memory.SharedMapping;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A stored cache as in a mapped file: its blocks have odd addresses and may stay mapped. */
final class MappedSnapshot implements CacheSnapshot, AutoCloseable {
  private final SharedMapping mapping = new SharedMapping();
  private final CacheSnapshot snapshot;
  private final List<MemorySegment> blocks = new ArrayList<>();

  MappedSnapshot(CacheSnapshot snapshot) {
    this.snapshot = snapshot;
    for (int i = 0; i < snapshot.blocks(); i++) {
      MemorySegment block = MemorySegment.ofArray(snapshot.block(i));
      blocks.add(mapping.arena().allocate(1 + block.byteSize(), 64).asSlice(1).copyFrom(block));
    }
  }

  /** Simulates a file that is modified against the rules. */
  void overwrite() {
    blocks.forEach(block -> block.fill((byte) 0x55));
  }

  @Override
  public int length() {
    return snapshot.length();
  }

  @Override
  public int blocks() {
    return blocks.size();
  }

  @Override
  public int end(int index) {
    return snapshot.end(index);
  }

  @Override
  public byte[] block(int index) {
    return snapshot.block(index);
  }

  @Override
  public Snapshot blockToRead(int index) {
    return Snapshot.of(blocks.get(index).asReadOnly().asByteBuffer());
  }

  @Override
  public byte[] residual() {
    return snapshot.residual();
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
