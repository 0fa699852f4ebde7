package dev.kvasir.cache;

import dev.kvasir.error.InvalidInputException;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Blocks that attention will find where they lie in a mapped file. All of them are checked before
 * the first is computed with, by whoever comes first: opening a session takes no time then, and the
 * first token attends to every block in any case. Caches that were forked share the work.
 */
final class UncheckedBlocks {
  private final MappedForm form;
  private final Holders holders = new Holders();
  private volatile boolean isDone;

  /** Held by whoever makes it; the file stays mapped until the last lets go. */
  UncheckedBlocks(MappedForm form) {
    this.form = form;
    form.mapping().retain();
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
    Optional<InvalidInputException> damaged =
        IntStream.range(0, form.blocks())
            .parallel()
            .mapToObj(this::damage)
            .flatMap(Optional::stream)
            .reduce((first, second) -> first);
    if (damaged.isPresent()) {
      throw damaged.get();
    }
    isDone = true;
  }

  private Optional<InvalidInputException> damage(int block) {
    try {
      form.check(block);
      return Optional.empty();
    } catch (InvalidInputException e) {
      return Optional.of(e);
    }
  }

  UncheckedBlocks share() {
    holders.add();
    return this;
  }

  void release() {
    if (holders.remove()) {
      form.mapping().release();
    }
  }
}
