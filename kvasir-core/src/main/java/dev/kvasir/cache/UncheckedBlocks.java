package dev.kvasir.cache;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.SharedMapping;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Blocks that attention will find where they lie in a mapped file. All of them are checked before
 * the first is computed with, by whoever comes first: opening a session takes no time then, and the
 * first token attends to every block in any case. Caches that were forked share the work.
 */
final class UncheckedBlocks {
  private final BlockChecksums checksums;
  private final SharedMapping file;
  private final RefCount refCount = new RefCount();
  private volatile boolean isDone;
  private Optional<InvalidInputException> damage = Optional.empty();

  /**
   * Held by whoever makes it. The file stays mapped until all were checked or the last lets go; the
   * form, which has the window on the heap, goes when blocks have been made of it.
   */
  UncheckedBlocks(UncheckedSnapshot snapshot) {
    this.checksums = snapshot.checksums();
    this.file = snapshot.file().retain();
  }

  /**
   * @throws dev.kvasir.error.InvalidInputException in one sentence, now and ever after, where a bit
   *     has changed
   */
  void check() {
    if (!isDone) {
      checkAll();
    }
  }

  /**
   * All are looked at before the first failure is thrown: a stream that one of its threads leaves
   * does not wait for the others, and these would still read what is then unmapped.
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
