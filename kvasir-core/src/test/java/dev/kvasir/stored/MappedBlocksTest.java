package dev.kvasir.stored;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Blocks that are read in place in a mapped file. */
class MappedBlocksTest {
  private static final CacheShape SHAPE = new CacheShape(2, 2, 16);
  private static final int TOKENS = 4 + 3 * 128 + 50;
  private static final Path MAPS = Path.of("/proc/self/maps");
  private static final Kernels KERNELS = new ScalarKernels();

  @TempDir private Path folder;

  private static KvCache filled(CacheSpec spec) {
    KvCache cache = spec.newCache(SHAPE);
    append(cache, TOKENS, 5);
    return cache;
  }

  private static void append(KvCache cache, int count, long seed) {
    Random random = new Random(seed);
    int begin = cache.length();
    cache.reserve(begin + count);
    float[] vector = new float[SHAPE.kvHeads() * SHAPE.headDim()];
    for (int position = begin; position < begin + count; position++) {
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        for (int i = 0; i < vector.length; i++) {
          vector[i] = random.nextFloat() - 0.5f;
        }
        cache.append(layer, position, vector, 0, vector, 0);
      }
    }
    cache.advance(count);
  }

  private Path saved(CacheSpec spec, KvCache cache) {
    Path file = folder.resolve("a.session");
    Identity identity = new Identity("ab".repeat(32), "cd".repeat(16), spec.text(), "", 0, "");
    int[] tokens = IntStream.range(0, TOKENS).toArray();
    CacheSnapshot snapshot = cache.snapshot();
    SessionFile.write(
        file,
        identity,
        tokens,
        snapshot,
        names ->
            new StoredSequence(
                identity,
                spec.text(),
                4096,
                false,
                Instant.EPOCH,
                tokens,
                snapshot.length(),
                names,
                Snapshot.of(snapshot.residual())));
    return file;
  }

  private static KvCache restored(CacheSpec spec, Path path) {
    try (SessionFile opened = SessionFile.open(path)) {
      return spec.restore(SHAPE, CacheContext.unknown(), opened.cache());
    }
  }

  private static List<String> parts(KvCache cache) {
    CacheSnapshot snapshot = cache.snapshot();
    List<String> parts = new ArrayList<>();
    for (int i = 0; i < snapshot.blocks(); i++) {
      parts.add(HexFormat.of().formatHex(snapshot.block(i)));
    }
    parts.add(HexFormat.of().formatHex(snapshot.residual()));
    return parts;
  }

  private static boolean isMapped(Path file) throws IOException {
    return Files.readString(MAPS).contains(file.toRealPath().getParent() + "/a.session");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "fp32",
        "kivi:2,window=0,sinks=4",
        "kivi:4,cold=2@128,window=0",
        "pmkvq:2,budget=1MiB,window=0",
        "patternkv:2,rope=static,window=0",
        "mixkvq,high=1.9,mid=1.7,salience=error,window=0"
      })
  void aSessionContinuesAfterItsFileIsDeleted(String typed) throws IOException {
    assumeTrue(Files.exists(MAPS), "what is mapped can be seen on Linux alone");
    CacheSpec spec = CacheSpec.parse(typed);
    long before = CountedArena.liveBytes();
    Path name;
    try (KvCache cache = filled(spec)) {
      Path file = saved(spec, cache);
      KvCache read = restored(spec, file);
      Path moved = Files.move(file, folder.resolve("moved"));
      Files.write(file, new byte[10]);
      name = moved;
      try (read;
          KvCache copied = spec.restore(SHAPE, CacheContext.unknown(), read.snapshot())) {
        assertThat(Files.readString(MAPS)).contains(moved.toRealPath().toString());
        assertThat(read.bytes()).isEqualTo(copied.bytes());
        Files.delete(moved);
        assertThat(parts(read)).isEqualTo(parts(copied));
        append(read, 300, 6);
        append(copied, 300, 6);
        assertThat(parts(read)).isEqualTo(parts(copied));
      }
    }
    assertThat(Files.readString(MAPS)).doesNotContain(name.toString());
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
  }

  /** Stateful sequences would otherwise learn from a damaged page. */
  @Test
  void statefulSequencesAreCheckedWhenOpened() throws IOException {
    CacheSpec spec = CacheSpec.parse("patternkv:2,rope=static,window=0");
    long before = CountedArena.liveBytes();
    Path file;
    try (KvCache cache = filled(spec)) {
      file = saved(spec, cache);
    }
    damage(file);
    assertThatThrownBy(() -> restored(spec, file).close())
        .isInstanceOf(InvalidInputException.class)
        .hasMessageStartingWith("a stored block with its tokens is damaged: its checksum is ");
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
  }

  private static void damage(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 1;
    Files.write(file, bytes);
  }

  /** The file's last part has the residual window, which is copied into blocks of the cache. */
  @Test
  void theSnapshotIsGarbageCollected() throws Exception {
    CacheSpec spec = CacheSpec.parse("kivi:2,window=0");
    try (KvCache cache = filled(spec)) {
      Path file = saved(spec, cache);
      SessionFile opened = SessionFile.open(file);
      WeakReference<StoredSequence> sequence = new WeakReference<>(opened.sequence());
      try (KvCache read = spec.restore(SHAPE, CacheContext.unknown(), opened.cache())) {
        opened.close();
        opened = null;
        for (int i = 0; i < 100 && sequence.get() != null; i++) {
          System.gc();
          Thread.sleep(10);
        }
        assertThat(sequence.get()).isNull();
        assertThat(parts(read)).isEqualTo(parts(cache));
      }
    }
  }

  /** The whole file is needed only until the first step. */
  @Test
  void anUnusedFileIsUnmapped() throws IOException {
    assumeTrue(Files.exists(MAPS), "what is mapped can be seen on Linux alone");
    CacheSpec spec = CacheSpec.parse("kivi:2,window=0,sinks=4");
    try (KvCache cache = filled(spec)) {
      Path file = saved(spec, cache);
      try (KvCache read = restored(spec, file)) {
        read.truncate(100);
        assertThat(isMapped(file)).isFalse();
        assertThat(read.length()).isEqualTo(100);
      }
    }
  }

  /** Other sequences may need the memory of a session before its first step. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void onlyIntactPagesAreRequantizedForOthers(boolean damaged) throws IOException {
    CacheSpec spec = CacheSpec.parse("pmkvq:2,budget=pool,window=0");
    Path file;
    try (KvCache cache = filled(spec)) {
      file = saved(spec, cache);
    }
    if (damaged) {
      damage(file);
    }
    MemoryPool pool = new MemoryPool(1 << 20);
    try (SessionFile opened = SessionFile.open(file);
        KvCache read =
            spec.restore(SHAPE, CacheContext.unknown().withMemory(pool), opened.cache())) {
      long wide = read.bytes().total();
      long free = pool.limit() - pool.usedBytes();
      assertThat(pool.tryAcquire(free + 100)).isEqualTo(!damaged);
      if (damaged) {
        assertThat(read.bytes().total()).isEqualTo(wide);
        assertRefused(file, () -> read.reserve(TOKENS + 1));
      } else {
        assertThat(read.bytes().total()).isLessThan(wide);
        pool.release(free + 100);
        append(read, 10, 9);
      }
    }
    assertThat(pool.usedBytes()).isZero();
  }

  /** No operation computes with a block before all blocks have been checked. */
  @ParameterizedTest
  @ValueSource(
      strings = {"fp16", "kivi:2,window=0", "mixkvq,high=1.9,mid=1.7,salience=error,window=0"})
  void damageIsRejectedBeforeComputation(String typed) throws IOException {
    CacheSpec spec = CacheSpec.parse(typed);
    long before = CountedArena.liveBytes();
    Path file;
    try (KvCache cache = filled(spec)) {
      file = saved(spec, cache);
    }
    damage(file);
    try (KvCache read = restored(spec, file);
        KvCache fork = read.fork()) {
      int block = read.blockOf(200);
      float[] out = new float[128 * 16];
      assertRefused(file, () -> read.reserve(TOKENS + 1));
      assertRefused(file, () -> read.reserve(TOKENS + 1));
      assertRefused(file, () -> fork.reserve(TOKENS + 1));
      assertRefused(file, read::snapshot);
      assertRefused(file, () -> read.view(0, block));
      assertRefused(file, () -> read.truncate(200));
      read.truncate(0);
      append(read, 130, 7);
      assertThat(read.length()).isEqualTo(130);
      assertRefused(file, () -> fork.reserve(TOKENS + 1));
    }
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
  }

  private static void assertRefused(Path file, Runnable work) {
    assertThatThrownBy(work::run)
        .isInstanceOf(InvalidInputException.class)
        .message()
        .startsWith(file + ": block ")
        .contains("a stored block with its tokens is damaged: its checksum is ")
        .doesNotContain("\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2,window=0", "pmkvq:2,budget=1MiB,window=0"})
  void writingToABlockCopiesIt(String typed) throws IOException {
    CacheSpec spec = CacheSpec.parse(typed);
    try (KvCache cache = filled(spec)) {
      Path file = saved(spec, cache);
      byte[] bytes = Files.readAllBytes(file);
      List<String> parts = parts(cache);
      try (KvCache read = restored(spec, file);
          KvCache fork = read.fork()) {
        read.truncate(200);
        cache.truncate(200);
        append(read, 100, 8);
        append(cache, 100, 8);
        assertThat(parts(read)).isEqualTo(parts(cache));
        assertThat(parts(fork)).isEqualTo(parts);
      }
      assertThat(file).hasBinaryContent(bytes);
    }
  }
}
