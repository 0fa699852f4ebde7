package dev.kvasir.store.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobTier.TierSize;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.SampleBlob;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderBudgetTest {
  private static final int SIZE = 2_000;
  private static final long BUDGET = 20L * SIZE;

  @TempDir private Path folder;
  private final List<String> reports = new ArrayList<>();

  private FolderTier open(long budget) {
    return new FolderTier(folder, budget, reports::add);
  }

  private long bytesThere() throws IOException {
    return new BlobFiles(folder).list().stream().mapToLong(BlobFiles.Entry::bytes).sum();
  }

  /** Writes blocks, each a second younger than the one before. */
  private List<BlobName> fill(FolderTier tier, int count) throws IOException {
    List<BlobName> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      SampleBlob block = SampleBlob.block(i, SIZE);
      tier.write(block.name(), block.bytes());
      setAge(block.name(), 1000 - i);
      names.add(block.name());
    }
    return names;
  }

  private void setAge(BlobName name, int seconds) throws IOException {
    Files.setLastModifiedTime(
        new BlobFiles(folder).file(name), FileTime.from(Instant.now().minusSeconds(seconds)));
  }

  @Test
  void theBudgetIsHeldAfterEveryWrite() throws IOException {
    FolderTier tier = open(BUDGET);
    Random random = new Random(5);
    for (int i = 0; i < 60; i++) {
      SampleBlob blob = SampleBlob.record(i % 40, 1 + random.nextInt(2 * SIZE));
      assertThat(tier.write(blob.name(), blob.bytes())).isTrue();
      assertThat(bytesThere()).isLessThanOrEqualTo(BUDGET);
      assertThat(tier.size()).contains(new TierSize(blobsThere(), bytesThere()));
      assertThat(tier.read(List.of(blob.name()), Deadline.none())).hasSize(1);
    }
    assertThat(reports).isEmpty();
  }

  private long blobsThere() throws IOException {
    return new BlobFiles(folder).list().size();
  }

  @Test
  void theOldestAreEvictedFirst() throws IOException {
    FolderTier tier = open(BUDGET);
    List<BlobName> names = fill(tier, 20);
    SampleBlob next = SampleBlob.block(100, SIZE);
    tier.write(next.name(), next.bytes());
    // A sixteenth stays free next to the block: seventeen fit in the remaining 35,500 bytes.
    assertThat(tier.has(names, Deadline.none()))
        .containsExactlyElementsOf(names.subList(3, names.size()));
  }

  @Test
  void usedBlobsStayAndTheLastOfThemIsEvictedFirst() throws IOException {
    FolderTier tier = open(BUDGET);
    List<BlobName> names = fill(tier, 20);
    List<BlobName> old = names.subList(0, 10);
    tier.touch(old);
    for (int i = 100; i < 112; i++) {
      SampleBlob next = SampleBlob.block(i, SIZE);
      tier.write(next.name(), next.bytes());
    }
    List<BlobName> left = List.copyOf(tier.has(old, Deadline.none()));
    assertThat(left).isNotEmpty().hasSizeLessThan(10);
    assertThat(left).isEqualTo(old.subList(0, left.size()));
    assertThat(tier.has(names.subList(10, 20), Deadline.none())).isEmpty();
  }

  @Test
  void writingABlockAgainRenewsItsAge() throws IOException {
    FolderTier tier = open(BUDGET);
    List<BlobName> names = fill(tier, 20);
    SampleBlob first = SampleBlob.block(0, SIZE);
    tier.write(first.name(), first.bytes());
    SampleBlob next = SampleBlob.block(100, SIZE);
    tier.write(next.name(), next.bytes());
    assertThat(tier.has(names, Deadline.none()))
        .contains(names.get(0))
        .doesNotContain(names.get(1));
  }

  /** A clock that was a day ahead must not leave files that are never evicted. */
  @Test
  void filesUsedInTheFutureAreEvictedInOrder() throws IOException {
    FolderTier tier = open(BUDGET);
    List<BlobName> names = fill(tier, 20);
    for (BlobName name : names) {
      setAge(name, -86_400);
    }
    for (int i = 100; i < 120; i++) {
      SampleBlob next = SampleBlob.block(i, SIZE);
      tier.write(next.name(), next.bytes());
      assertThat(tier.has(List.of(next.name()), Deadline.none())).hasSize(1);
    }
    SampleBlob young = SampleBlob.block(119, SIZE);
    assertThat(tier.has(List.of(young.name()), Deadline.none())).hasSize(1);
    assertThat(tier.has(names, Deadline.none())).hasSizeLessThan(3);
  }

  /** Root can delete any file. */
  @Test
  void aFileThatCannotBeDeletedStaysAndTheNextOneIsEvicted() throws IOException {
    FolderTier tier = open(BUDGET);
    List<BlobName> names = fill(tier, 20);
    Path locked = new BlobFiles(folder).file(names.get(0)).getParent();
    Files.setPosixFilePermissions(locked, PosixFilePermissions.fromString("r-xr-xr-x"));
    try {
      assumeTrue(!Files.isWritable(locked), "root may remove any file");
      SampleBlob next = SampleBlob.block(100, SIZE);
      assertThat(tier.write(next.name(), next.bytes())).isTrue();
      assertThat(tier.has(names, Deadline.none()))
          .contains(names.get(0))
          .doesNotContain(names.get(1));
      assertThat(bytesThere()).isLessThanOrEqualTo(BUDGET);
    } finally {
      Files.setPosixFilePermissions(locked, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
  }

  @Test
  void aBlobLargerThanTheBudgetIsNotWrittenAndEvictsNothing() throws IOException {
    FolderTier tier = open(BUDGET);
    fill(tier, 5);
    SampleBlob large = SampleBlob.block(100, (int) BUDGET + 1);
    assertThat(tier.write(large.name(), large.bytes())).isFalse();
    assertThat(bytesThere()).isEqualTo(5 * SIZE);
    assertThat(reports)
        .containsExactly(
            "the store %s has a budget of 40000 bytes; a blob of 40001 does not fit"
                .formatted(folder));
  }

  @Test
  void aSmallerBudgetHoldsForWhatWasThereBefore() throws IOException {
    fill(open(0), 20);
    FolderTier tier = open(5 * SIZE);
    SampleBlob next = SampleBlob.block(100, SIZE);
    tier.write(next.name(), next.bytes());
    assertThat(bytesThere()).isLessThanOrEqualTo(5 * SIZE);
  }

  @Test
  void threadsOfOneTierHoldTheBudgetTogether() throws Exception {
    FolderTier tier = open(BUDGET);
    writeFromThreads(List.of(tier, tier, tier, tier));
    assertThat(bytesThere()).isLessThanOrEqualTo(BUDGET);
  }

  @Test
  void severalTiersOfOneFolderExceedItByASixteenthEachAtMost() throws Exception {
    List<FolderTier> tiers = List.of(open(BUDGET), open(BUDGET), open(BUDGET));
    writeFromThreads(tiers);
    assertThat(bytesThere()).isLessThanOrEqualTo(BUDGET + tiers.size() * (BUDGET / 16 + SIZE));
    SampleBlob last = SampleBlob.block(-1, SIZE);
    tiers.get(0).write(last.name(), last.bytes());
    assertThat(bytesThere()).isLessThanOrEqualTo(BUDGET);
  }

  private void writeFromThreads(List<FolderTier> tiers) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(tiers.size())) {
      List<Future<?>> all = new ArrayList<>();
      for (int t = 0; t < tiers.size(); t++) {
        FolderTier tier = tiers.get(t);
        int first = t * 1000;
        all.add(threads.submit(() -> writeAndRead(tier, first)));
      }
      for (Future<?> one : all) {
        one.get();
      }
    }
    assertThat(reports).isEmpty();
  }

  private static void writeAndRead(FolderTier tier, int first) {
    IntStream.range(first, first + 40)
        .forEach(
            i -> {
              SampleBlob block = SampleBlob.block(i, SIZE);
              assertThat(tier.write(block.name(), block.bytes())).isTrue();
              tier.read(List.of(block.name()), Deadline.none())
                  .forEach((name, bytes) -> assertThat(SampleBlob.isWhole(name, bytes)).isTrue());
            });
  }
}
