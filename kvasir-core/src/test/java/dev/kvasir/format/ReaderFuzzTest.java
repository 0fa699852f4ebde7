package dev.kvasir.format;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.error.InvalidInputException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * For any bytes, a reader either rejects them with a message or returns fully readable tensors and
 * metadata, with little memory.
 */
class ReaderFuzzTest {
  private static final long MAX_ALLOCATED_BYTES = 1 << 20;

  enum Kind {
    GGUF(gguf(), InMemoryFiles::gguf),
    SAFETENSORS(safetensors(), InMemoryFiles::safetensors);

    private final byte[] valid;
    private final Function<byte[], TensorSource> open;

    Kind(byte[] valid, Function<byte[], TensorSource> open) {
      this.valid = valid;
      this.open = open;
      open.apply(valid).close(); // loads classes before memory is measured
    }
  }

  @Property(seed = "4711", tries = 1_000)
  void noiseIsReadOrRefused(@ForAll Kind kind, @ForAll byte[] noise) {
    readOrRefuse(kind, noise);
  }

  @Property(seed = "4712", tries = 1_500)
  void noiseAfterAValidPrefixIsReadOrRefused(
      @ForAll Kind kind, @ForAll("truncations") List<Corruption> truncation, @ForAll byte[] noise) {
    LittleEndianBytes file = new LittleEndianBytes();
    readOrRefuse(kind, file.raw(Corruption.all(truncation, kind.valid)).raw(noise).toArray());
  }

  @Property(seed = "4713", tries = 2_000)
  void flippedBytesAreReadOrRefused(@ForAll Kind kind, @ForAll("flips") List<Corruption> edits) {
    readOrRefuse(kind, Corruption.all(edits, kind.valid));
  }

  @Property(seed = "4714", tries = 1_000)
  void truncatedFilesAreReadOrRefused(
      @ForAll Kind kind, @ForAll("truncations") List<Corruption> edits) {
    readOrRefuse(kind, Corruption.all(edits, kind.valid));
  }

  @Property(seed = "4715", tries = 1_500)
  void insertedBytesAreReadOrRefused(
      @ForAll Kind kind, @ForAll("insertions") List<Corruption> edits) {
    readOrRefuse(kind, Corruption.all(edits, kind.valid));
  }

  @Property(seed = "4716", tries = 2_000)
  void overwrittenNumbersAreReadOrRefused(
      @ForAll Kind kind, @ForAll("overwrites") List<Corruption> edits) {
    readOrRefuse(kind, Corruption.all(edits, kind.valid));
  }

  @Property(seed = "4717", tries = 1_500)
  void severalEditsAreReadOrRefused(@ForAll Kind kind, @ForAll("edits") List<Corruption> edits) {
    readOrRefuse(kind, Corruption.all(edits, kind.valid));
  }

  @Property(seed = "4718", tries = 2_000)
  void editedJsonWithAValidLengthIsReadOrRefused(@ForAll("jsonEdits") List<Corruption> edits) {
    byte[] valid = Kind.SAFETENSORS.valid;
    int dataAt = 8 + ByteBuffer.wrap(valid).order(LITTLE_ENDIAN).getInt(0);
    byte[] json = Corruption.all(edits, Arrays.copyOfRange(valid, 8, dataAt));
    byte[] data = Arrays.copyOfRange(valid, dataAt, valid.length);
    readOrRefuse(Kind.SAFETENSORS, SafetensorsWriter.file(new String(json, UTF_8), data));
  }

  @Provide
  Arbitrary<List<Corruption>> flips() {
    return Corruption.flips().list().ofMinSize(1).ofMaxSize(6);
  }

  @Provide
  Arbitrary<List<Corruption>> truncations() {
    return Corruption.truncations().list().ofSize(1);
  }

  @Provide
  Arbitrary<List<Corruption>> insertions() {
    return Corruption.insertions().list().ofMinSize(1).ofMaxSize(3);
  }

  @Provide
  Arbitrary<List<Corruption>> overwrites() {
    return Corruption.overwrites().list().ofMinSize(1).ofMaxSize(3);
  }

  @Provide
  Arbitrary<List<Corruption>> jsonEdits() {
    Arbitrary<Corruption> any =
        Arbitraries.oneOf(Corruption.jsonInsertions(), Corruption.deletions());
    return any.list().ofMinSize(1).ofMaxSize(3);
  }

  @Provide
  Arbitrary<List<Corruption>> edits() {
    Arbitrary<Corruption> any =
        Arbitraries.oneOf(
            Corruption.flips(),
            Corruption.truncations(),
            Corruption.insertions(),
            Corruption.deletions(),
            Corruption.overwrites());
    return any.list().ofMinSize(1).ofMaxSize(6);
  }

  private static void readOrRefuse(Kind kind, byte[] file) {
    long before = AllocatedBytes.bytes();
    try (TensorSource opened = kind.open.apply(file)) {
      assertThat(AllocatedBytes.bytes() - before).isLessThan(MAX_ALLOCATED_BYTES);
      opened.tensors().forEach(ReaderFuzzTest::readWhole);
      if (opened instanceof GgufFile gguf) {
        gguf.metadata().keys().forEach(key -> ask(gguf.metadata(), key));
      }
      if (opened instanceof SafetensorsFile weights) {
        readPair(weights);
      }
    } catch (InvalidInputException refusal) {
      assertThat(AllocatedBytes.bytes() - before).isLessThan(MAX_ALLOCATED_BYTES);
      assertThat(refusal.getMessage()).startsWith("tiny.").hasSizeLessThan(500);
      assertThat(refusal.getMessage().chars().anyMatch(Character::isISOControl)).isFalse();
    }
  }

  private static void readWhole(Tensor tensor) {
    assertThat(tensor.data().byteSize()).isEqualTo(tensor.type().bytesFor(tensor.values()));
    assertThat(tensor.data().toArray(ValueLayout.JAVA_BYTE)).isNotNull();
    assertThat(tensor.toFloats()).hasSize((int) tensor.values());
  }

  private static void readPair(SafetensorsFile weights) {
    Optional<ByteTensor> blocks = weights.findBytes("e_blocks");
    Optional<ByteTensor> scales = weights.findBytes("e_scales");
    if (blocks.isPresent() && scales.isPresent()) {
      Mxfp4Pair pair = Mxfp4Pair.of(weights.name(), "e", blocks.get(), scales.get());
      for (int expert = 0; expert < pair.experts(); expert++) {
        readWhole(pair.expert(expert));
      }
    }
  }

  /** Reads a key with every accessor, each of which returns a value or an error. */
  private static void ask(GgufMetadata metadata, String key) {
    assertThat(metadata.value(key)).isPresent();
    List<Consumer<String>> questions =
        List.of(
            metadata::string,
            metadata::integer,
            metadata::number,
            metadata::bool,
            metadata::strings,
            metadata::integers,
            metadata::floats);
    for (Consumer<String> question : questions) {
      try {
        question.accept(key);
      } catch (InvalidInputException refusal) {
        assertThat(refusal).hasMessageStartingWith("tiny.gguf: ");
      }
    }
  }

  private static byte[] gguf() {
    GgufValue numbers = GgufValue.array(GgufValue.float32(1), GgufValue.float32(2));
    GgufWriter writer =
        new GgufWriter()
            .put("general.architecture", "llama")
            .alignment(8)
            .put("u8", GgufValue.uint8(1))
            .put("i16", GgufValue.int16(-2))
            .put("u64", GgufValue.uint64(3))
            .put("f64", GgufValue.float64(4))
            .put("f32", 5f)
            .put("yes", true)
            .put("tokens", GgufValue.strings("a", "b", "cd"))
            .put("flags", GgufValue.array(GgufValue.bool(true), GgufValue.bool(false)))
            .put("types", GgufValue.array(GgufValue.int32(1), GgufValue.int32(2)))
            .put("nested", GgufValue.array(numbers, numbers));
    return writer
        .floats("a", new float[] {1, 2, 3, 4}, 2, 2)
        .tensor("b", GgmlType.Q8_0, new byte[68], 2, 32)
        .tensor("c", GgmlType.BF16, new byte[10], 1, 5)
        .tensor("d", GgmlType.IQ2_XXS, RandomBlocks.of(GgmlType.IQ2_XXS, 1, 1), 256)
        .tensor("e", GgmlType.MXFP4, RandomBlocks.of(GgmlType.MXFP4, 2, 1), 2, 32)
        .bytes();
  }

  private static byte[] safetensors() {
    return new SafetensorsWriter()
        .metadata("format", "pt")
        .floats("a", new float[] {1, 2, 3, 4}, 2, 2)
        .tensor("b", "BF16", new byte[6], 3)
        .tensor("c", "I64", new byte[16], 2)
        .floats("d", new float[] {5})
        .tensor("e_blocks", "U8", new byte[32], 1, 1, 2, 16)
        .tensor("e_scales", "U8", new byte[2], 1, 1, 2)
        .bytes();
  }
}
