package dev.kvasir.store.tier;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of every tier. */
public abstract class BlobTierContract {
  private BlobTier opened;

  /** Opens an empty, working tier. */
  protected abstract BlobTier open() throws Exception;

  /** Opens another tier at the same place. */
  protected abstract BlobTier openAgain() throws Exception;

  private BlobTier tier() throws Exception {
    opened = opened == null ? open() : opened;
    return opened;
  }

  @AfterEach
  void theTierHasNotFailed() {
    if (opened != null) {
      assertThat(opened.failures()).isZero();
      opened.close();
    }
  }

  private Map<BlobName, byte[]> read(BlobName... names) throws Exception {
    return tier().read(List.of(names), patience());
  }

  /** Returns a deadline that tolerates a busy machine. */
  private static Deadline patience() {
    return Deadline.in(Duration.ofSeconds(30));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 50_000, (1 << 20) - 1, 1 << 20, 3_000_001})
  void aBlobIsReadBackAsItWasWritten(int size) throws Exception {
    SampleBlob block = SampleBlob.block(size, size);
    assertThat(tier().write(block.name(), block.bytes())).isTrue();
    assertThat(read(block.name())).containsOnlyKeys(block.name());
    assertThat(read(block.name()).get(block.name())).isEqualTo(block.bytes());
    assertThat(tier().has(List.of(block.name()), patience())).containsExactly(block.name());
  }

  @Test
  void blobsThatWereNeverWrittenDoNotExist() throws Exception {
    SampleBlob block = SampleBlob.block(1, 10);
    assertThat(read(block.name())).isEmpty();
    assertThat(tier().has(List.of(block.name()), patience())).isEmpty();
  }

  @Test
  void severalAreReturnedInTheRequestedOrder() throws Exception {
    List<BlobName> names = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      SampleBlob block = SampleBlob.block(i, 100);
      names.add(block.name());
      if (i % 3 != 0) {
        tier().write(block.name(), block.bytes());
      }
    }
    List<BlobName> there = names.stream().filter(name -> names.indexOf(name) % 3 != 0).toList();
    assertThat(tier().read(names.reversed(), patience()).keySet())
        .containsExactlyElementsOf(there.reversed());
    assertThat(tier().has(names, patience())).containsExactlyElementsOf(there);
  }

  @Test
  void anEmptyRequestReturnsNothing() throws Exception {
    assertThat(read()).isEmpty();
    tier().touch(List.of());
  }

  @Test
  void aBlockAndARecordMayHaveTheSameHash() throws Exception {
    SampleBlob block = SampleBlob.block(1, 10);
    SampleBlob other = SampleBlob.record(1, 10);
    tier().write(block.name(), block.bytes());
    assertThat(read(other.name())).isEmpty();
    tier().write(other.name(), new byte[] {1, 2, 3});
    assertThat(read(other.name()).get(other.name())).containsExactly(1, 2, 3);
    assertThat(read(block.name()).get(block.name())).isEqualTo(block.bytes());
  }

  @Test
  void aRecordIsReplacedByANewerOne() throws Exception {
    BlobName name = SampleBlob.record(1, 10).name();
    tier().write(name, SampleBlob.bytes(2, 1000));
    tier().write(name, SampleBlob.bytes(3, 500));
    assertThat(read(name).get(name)).isEqualTo(SampleBlob.bytes(3, 500));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 50_000, 100_000})
  void aMappedBlobHasTheSameBytes(int size) throws Exception {
    SampleBlob block = SampleBlob.block(size, size);
    BlobName missing = SampleBlob.block(1, 10).name();
    tier().write(block.name(), block.bytes());
    try (Arena arena = Arena.ofShared()) {
      Map<BlobName, ByteBuffer> found =
          tier().map(List.of(missing, block.name()), patience(), file -> mapped(file, arena));
      assertThat(found).containsOnlyKeys(block.name());
      assertThat(found.get(block.name())).isEqualTo(ByteBuffer.wrap(block.bytes()));
    }
  }

  private static Optional<MemorySegment> mapped(FileChannel file, Arena arena) throws IOException {
    return Optional.of(file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena));
  }

  @Test
  void concurrentAppendsToARecordLoseNothing() throws Exception {
    BlobTier shared = tier();
    BlobTier other = openAgain();
    BlobName name = SampleBlob.record(1, 10).name();
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<Boolean>> all = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        byte[] line = "line %d\n".formatted(i).getBytes(StandardCharsets.UTF_8);
        BlobTier tier = i % 2 == 0 ? shared : other;
        all.add(threads.submit(() -> tier.append(name, line)));
      }
      for (Future<Boolean> one : all) {
        assertThat(one.get()).isTrue();
      }
    }
    other.close();
    String text = new String(read(name).get(name), StandardCharsets.UTF_8);
    assertThat(text.lines())
        .containsExactlyInAnyOrderElementsOf(
            IntStream.range(0, 40).mapToObj(i -> "line " + i).toList());
  }

  @Test
  void aBlockThatIsThereIsNotWrittenAgain() throws Exception {
    BlobName name = SampleBlob.block(1, 10).name();
    tier().write(name, SampleBlob.bytes(2, 1000));
    assertThat(tier().write(name, SampleBlob.bytes(3, 1000))).isTrue();
    assertThat(read(name).get(name)).isEqualTo(SampleBlob.bytes(2, 1000));
  }

  @Test
  void aDamagedBlockIsDeletedAndCanBeWrittenAgain() throws Exception {
    BlobName name = SampleBlob.block(1, 10).name();
    tier().write(name, SampleBlob.bytes(2, 1000));
    tier().delete(name);
    assertThat(read(name)).isEmpty();
    tier().write(name, SampleBlob.bytes(3, 1000));
    assertThat(read(name).get(name)).isEqualTo(SampleBlob.bytes(3, 1000));
  }

  @Test
  void missingBlobsCanBeTouchedAndDeleted() throws Exception {
    BlobName name = SampleBlob.block(1, 10).name();
    tier().touch(List.of(name));
    tier().delete(name);
    assertThat(read(name)).isEmpty();
  }

  @Test
  void nothingComesAfterTheDeadline() throws Exception {
    SampleBlob block = SampleBlob.block(1, 10);
    tier().write(block.name(), block.bytes());
    Deadline over = Deadline.in(Duration.ZERO);
    assertThat(tier().read(List.of(block.name()), over)).isEmpty();
    assertThat(tier().has(List.of(block.name()), over)).isEmpty();
  }

  @Test
  void manyThreadsMayCallAtOnce() throws Exception {
    BlobTier shared = tier();
    try (ExecutorService threads = Executors.newFixedThreadPool(12)) {
      List<Future<Boolean>> all = new ArrayList<>();
      for (int i = 0; i < 120; i++) {
        SampleBlob block = SampleBlob.block(i % 40, 20_000);
        all.add(threads.submit(() -> isWrittenAndReadBack(shared, block)));
      }
      for (Future<Boolean> one : all) {
        assertThat(one.get()).isTrue();
      }
    }
  }

  private static boolean isWrittenAndReadBack(BlobTier tier, SampleBlob block) {
    boolean isKept = tier.write(block.name(), block.bytes());
    tier.touch(List.of(block.name()));
    byte[] found = tier.read(List.of(block.name()), patience()).get(block.name());
    return isKept && SampleBlob.isWhole(block.name(), found);
  }
}
