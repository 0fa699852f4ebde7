package dev.kvasir.cache;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.SharedMapping;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Blocks in a mapped file that have not been checked yet. The first user checks all of them before
 * any computation: opening a session takes no time then, and the first token attends to every block
 * anyway. Forked caches share the check.
 */
final class UncheckedBlocks {
  private final BlockChecksums checksums;
  private final SharedMapping file;
  private final RefCount refCount = new RefCount();
  private volatile boolean isDone;
  private Optional<InvalidInputException> damage = Optional.empty();

  /**
   * Creates it with one reference. The file stays mapped until all blocks are checked or the last
   * reference is released. The snapshot, whose window is on the heap, is not retained.
   */
  UncheckedBlocks(UncheckedSnapshot snapshot) {
    this.checksums = snapshot.checksums();
    this.file = snapshot.file().retain();
  }

  /**
   * Checks all blocks, unless that was done before.
   *
   * @throws dev.kvasir.error.InvalidInputException if a bit has changed, now and on every later
   *     call
   */
  void check() {
    if (!isDone) {
      checkAll();
    }
  }

  /**
   * Checks every block before it throws the first failure. A parallel stream that one thread leaves
   * does not wait for the others, which would still read unmapped memory.
   */
  private synchronized void checkAll() {
    if (isDone) {
      return;
    }
    if (damage.isEmpty()) {
      damage = damaged();
    }
    if (damage.isPresent()) {
      throw damage.get();
    }
    isDone = true;
    file.release();
  }

  private Optional<InvalidInputException> damaged() {
    return IntStream.range(0, checksums.blocks())
        .parallel()
        .mapToObj(this::damage)
        .flatMap(Optional::stream)
        .reduce((first, second) -> first);
  }

  private Optional<InvalidInputException> damage(int block) {
    try {
      checksums.verify(block);
      return Optional.empty();
    } catch (InvalidInputException e) {
      return Optional.of(e);
    }
  }

  UncheckedBlocks share() {
    refCount.retain();
    return this;
  }

  synchronized void release() {
    if (refCount.release() && !isDone) {
      file.release();
    }
  }
}
