package dev.kvasir.stored;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotAssertions;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.CountedArena;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One layer with one KV head of four channels: a file of two thousand bytes. */
@Tag("contract")
class SessionFileTest {
  private static final CacheShape SHAPE = new CacheShape(1, 1, 4);
  private static final CacheSpec SPEC = CacheSpec.parse("kivi:1,window=0,sinks=1");
  private static final Identity IDENTITY =
      new Identity("ab".repeat(32), "cd".repeat(16), SPEC.text(), "", 0, "");
  private static final int TOKENS = 1 + 2 * 128 + 3;

  @TempDir private Path folder;
  private Path file;

  @BeforeEach
  void write() {
    file = folder.resolve("a.session");
    try (KvCache cache = filled()) {
      CacheSnapshot snapshot = cache.snapshot();
      int[] tokens = tokens();
      SessionFile.write(
          file, IDENTITY, tokens, snapshot, names -> sequence(tokens, names, snapshot));
    }
  }

  private static int[] tokens() {
    return IntStream.range(0, TOKENS + 1).map(i -> 7 * i).toArray();
  }

  private static StoredSequence sequence(int[] tokens, List<String> names, CacheSnapshot snapshot) {
    return new StoredSequence(
        IDENTITY,
        SPEC.text(),
        4096,
        false,
        Instant.ofEpochSecond(1_800_000_000),
        tokens,
        snapshot.length(),
        names,
        Snapshot.of(snapshot.residual()));
  }

  private static KvCache filled() {
    KvCache cache = SPEC.newCache(SHAPE);
    cache.reserve(TOKENS);
    for (int position = 0; position < TOKENS; position++) {
      float[] vector = {position % 3, -1, position % 7, 0.5f};
      cache.append(0, position, vector, 0, vector, 0);
    }
    cache.advance(TOKENS);
    return cache;
  }

  private static KvCache restored(Path path) {
    try (SessionFile opened = SessionFile.open(path)) {
      return SPEC.restore(SHAPE, CacheContext.unknown(), opened.cache());
    }
  }

  @Test
  void whatIsReadIsWhatWasWritten() {
    try (KvCache cache = filled();
        KvCache read = restored(file);
        SessionFile opened = SessionFile.open(file)) {
      opened.verify();
      assertThat(opened.sequence().identity()).isEqualTo(IDENTITY);
      assertThat(opened.sequence().tokens()).isEqualTo(tokens());
      assertThat(opened.sequence().storedAt()).isEqualTo(Instant.ofEpochSecond(1_800_000_000));
      assertThat(read.snapshot().blocks()).isEqualTo(2);
      assertThat(read.snapshot().block(1)).isEqualTo(cache.snapshot().block(1));
      assertThat(read.snapshot().residual()).isEqualTo(cache.snapshot().residual());
    }
  }

  /** The bytes documented in docs/format.md. */
  @Test
  void everyPartHasTheDocumentedBytes() throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(bytes.getLong()).isEqualTo(0x313053534553564bL); // KVSESS01
    byte[] block = part(bytes);
    part(bytes);
    int at = bytes.position();
    byte[] sequence = part(bytes);
    assertThat(bytes.getLong()).isEqualTo(at);
    assertThat(bytes.getLong()).isEqualTo(0x3130444e4553564bL); // KVSEND01
    assertThat(bytes.hasRemaining()).isFalse();
    SnapshotAssertions.assertBytes(
        block,
        1540,
        "8a454de3",
        "4b565342 01 01 f6050000", // magic, version, kind, bytes
        "fb24f9c28b67ca42ece0d4d66e0773b1", // before the first token, the identity's hash
        "6130b7481a6edccf32273ccb624e9a42",
        "00000000 81000000", // from token 0 on, 129 of them
        "00000000 07000000 0e000000"); // tokens
    SnapshotAssertions.assertBytes(
        sequence,
        1414,
        "888ed0e7",
        "4b565351 01 01 78050000", //
        "4000 61626162"); // 64 characters of the weights' hash
  }

  @Test
  void theResidualHasTheDocumentedBytes() {
    try (KvCache cache = filled()) {
      SnapshotAssertions.assertBytes(
          cache.snapshot().block(0),
          970,
          "054050f1",
          "4b56424c 01 01 bc030000", //
          "01000000", // the position of its first token: one sink lies before it
          "0100 b2030000", // layers, bytes of the first page
          "4b565047 02 01"); // the page
      SnapshotAssertions.assertBytes(
          cache.snapshot().residual(),
          109,
          "b6f2779a",
          "4b565254 01 01 5f000000", //
          "04010000 02000000 01000000", // positions, whole blocks, sinks
          "01", // halves
          "0e000000 4b565354 01 00 00000000 12f087be", // an empty state
          "0000 00bc 0000 0038"); // the sink's key
    }
  }

  private static byte[] part(ByteBuffer bytes) {
    byte[] part = new byte[(int) bytes.getLong()];
    bytes.get(part);
    return part;
  }

  @Test
  void anyByteThatChangesIsFound() throws IOException {
    byte[] good = Files.readAllBytes(file);
    long before = CountedArena.liveBytes();
    for (int at = 0; at < good.length; at++) {
      byte[] bad = good.clone();
      bad[at] ^= (byte) (1 << at % 8);
      assertRefused(bad, "byte " + at);
    }
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
  }

  @Test
  void anyCutAndAnyByteMoreIsFound() throws IOException {
    byte[] good = Files.readAllBytes(file);
    for (int length = 0; length < good.length; length++) {
      assertRefused(Arrays.copyOf(good, length), "length " + length);
    }
    assertRefused(Arrays.copyOf(good, good.length + 1), "a byte more");
  }

  /** Writes a new file, since some file systems flush one that is truncated and refilled. */
  private void assertRefused(byte[] bytes, String what) throws IOException {
    Files.deleteIfExists(folder.resolve("bad"));
    Path bad = Files.write(folder.resolve("bad"), bytes);
    assertThatThrownBy(() -> beginStep(bad))
        .as(what)
        .isInstanceOf(InvalidInputException.class)
        .message()
        .doesNotContain("\n");
  }

  /** Blocks may be checked as late as this, before any computation. */
  private static void beginStep(Path path) {
    try (KvCache cache = restored(path)) {
      cache.reserve(TOKENS + 1);
    }
  }

  @Test
  void blocksThatAreSwappedAreFound() throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    long head = bytes.getLong();
    byte[] first = part(bytes);
    byte[] second = part(bytes);
    ByteBuffer swapped = ByteBuffer.allocate(bytes.capacity()).order(ByteOrder.LITTLE_ENDIAN);
    swapped.putLong(head).putLong(second.length).put(second).putLong(first.length).put(first);
    swapped.put(bytes);
    Path bad = Files.write(folder.resolve("bad"), swapped.array());
    assertThatThrownBy(() -> restored(bad).close())
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "a stored block with its tokens is of tokens 129 to 257 of another text or cache");
  }

  @Test
  void aNewerVersionIsRefusedByItsNumber() throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[8 + 8 + 4] = 2; // of the first block
    Path newer = Files.write(folder.resolve("newer"), bytes);
    assertThatThrownBy(() -> restored(newer).close())
        .hasMessage("a stored block with its tokens has version 2; known is 1");
  }

  @Test
  void aTimeThatIsNoneIsRefused() {
    byte[] sequenceBytes;
    try (KvCache cache = filled()) {
      sequenceBytes = sequence(tokens(), List.of(), cache.snapshot()).toBytes();
    }
    ByteBuffer bytes = ByteBuffer.wrap(sequenceBytes).order(ByteOrder.LITTLE_ENDIAN);
    int at = 0;
    while (bytes.getLong(at) != 1_800_000_000L) {
      at++;
    }
    bytes.putLong(at, Long.MAX_VALUE);
    assertThatThrownBy(() -> StoredSequence.read(SnapshotAssertions.withChecksum(sequenceBytes)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("which is no time");
  }

  @Test
  void whatDiffersIsNamed() {
    Identity other = new Identity("ef".repeat(32), "cd".repeat(16), SPEC.text(), "", 0, "");
    assertThat(other.differenceOf(IDENTITY))
        .contains(
            "was stored with another set of weights, 'abababababab'; here it is 'efefefefefef'");
    assertThat(IDENTITY.differenceOf(IDENTITY)).isEmpty();
    assertThat(IDENTITY.withTenant(Identity.tenant("a key")).differenceOf(IDENTITY)).isPresent();
  }
}
