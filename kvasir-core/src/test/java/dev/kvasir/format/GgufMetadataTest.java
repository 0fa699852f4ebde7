package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.function.Function;
import org.junit.jupiter.api.Test;

class GgufMetadataTest {
  @Test
  void integersOfEveryWidthAreReadAtTheirBounds() {
    GgufMetadata metadata =
        read(
            new GgufWriter()
                .put("u8", GgufValue.uint8(255))
                .put("i8", GgufValue.int8(-128))
                .put("u16", GgufValue.uint16(65_535))
                .put("i16", GgufValue.int16(-32_768))
                .put("u32", GgufValue.uint32(4_294_967_295L))
                .put("i32", GgufValue.int32(Integer.MIN_VALUE))
                .put("u64", GgufValue.uint64(Long.MAX_VALUE))
                .put("i64", GgufValue.int64(Long.MIN_VALUE)));
    assertThat(metadata.keys())
        .containsExactly("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64");
    assertThat(metadata.value("u8")).contains(255L);
    assertThat(metadata.value("i8")).contains(-128L);
    assertThat(metadata.value("u16")).contains(65_535L);
    assertThat(metadata.value("i16")).contains(-32_768L);
    assertThat(metadata.value("u32")).contains(4_294_967_295L);
    assertThat(metadata.value("i32")).contains((long) Integer.MIN_VALUE);
    assertThat(metadata.value("u64")).contains(Long.MAX_VALUE);
    assertThat(metadata.value("i64")).contains(Long.MIN_VALUE);
  }

  @Test
  void floatsBooleansAndStringsAreReadAsWritten() {
    GgufMetadata metadata =
        read(
            new GgufWriter()
                .put("f32", 0.5f)
                .put("f64", GgufValue.float64(Math.PI))
                .put("yes", true)
                .put("no", false)
                .put("text", "Óðrerir\nand Boðn")
                .put("empty", ""));
    assertThat(metadata.number("f32")).contains(0.5);
    assertThat(metadata.number("f64")).contains(Math.PI);
    assertThat(metadata.bool("yes")).contains(true);
    assertThat(metadata.bool("no")).contains(false);
    assertThat(metadata.requireString("text")).isEqualTo("Óðrerir\nand Boðn");
    assertThat(metadata.string("empty")).contains("");
  }

  @Test
  void anIntegerIsANumberToo() {
    assertThat(read(new GgufWriter().put("base", 10_000)).number("base")).contains(10_000.0);
  }

  @Test
  void arraysOfEveryElementAreReadAsWritten() {
    GgufMetadata metadata =
        read(
            new GgufWriter()
                .put("strings", GgufValue.strings("a", "", "ö"))
                .put("u8", GgufValue.array(GgufValue.uint8(200), GgufValue.uint8(3)))
                .put("i32", GgufValue.array(GgufValue.int32(-1), GgufValue.int32(2)))
                .put("f32", GgufValue.array(GgufValue.float32(1.5f), GgufValue.float32(-2)))
                .put("f64", GgufValue.array(GgufValue.float64(0.25)))
                .put("bools", GgufValue.array(GgufValue.bool(true), GgufValue.bool(false)))
                .put("none", GgufValue.strings()));
    assertThat(metadata.strings("strings").orElseThrow()).containsExactly("a", "", "ö");
    assertThat(metadata.integers("u8").orElseThrow()).containsExactly(200, 3);
    assertThat(metadata.integers("i32").orElseThrow()).containsExactly(-1, 2);
    assertThat(metadata.floats("f32").orElseThrow()).containsExactly(1.5f, -2);
    assertThat(metadata.floats("f64").orElseThrow()).containsExactly(0.25f);
    assertThat(metadata.value("bools")).contains(new boolean[] {true, false});
    assertThat(metadata.strings("none").orElseThrow()).isEmpty();
  }

  @Test
  void arraysInArraysAreReadAsWritten() {
    GgufValue pair = GgufValue.array(GgufValue.uint8(1), GgufValue.uint8(2));
    GgufValue one = GgufValue.array(GgufValue.uint8(3));
    GgufMetadata metadata =
        read(new GgufWriter().put("nested", GgufValue.array(GgufValue.array(pair, one))));
    Object[] pairAndOne = {new long[] {1, 2}, new long[] {3}};
    assertThat((Object[]) metadata.value("nested").orElseThrow())
        .isEqualTo(new Object[] {pairAndOne});
  }

  @Test
  void anAbsentValueIsEmptyUntilItIsRequired() {
    GgufMetadata metadata = read(new GgufWriter());
    assertThat(metadata.value("x")).isEmpty();
    assertThat(metadata.integer("x")).isEmpty();
    assertThat(metadata.floats("x")).isEmpty();
    assertThat(refusal(metadata, m -> m.requireInteger("x")))
        .isEqualTo("'x' is missing; expected an integer");
    assertThat(refusal(metadata, m -> m.requireString("x")))
        .isEqualTo("'x' is missing; expected a string");
  }

  @Test
  void aValueOfAnotherKindIsRefusedWithBothKinds() {
    GgufMetadata metadata =
        read(
            new GgufWriter()
                .put("n", 5)
                .put("s", "five")
                .put("a", GgufValue.strings("five", "six")));
    assertThat(refusal(metadata, m -> m.string("n")))
        .isEqualTo("'n' is the number 5; expected a string");
    assertThat(refusal(metadata, m -> m.integer("s")))
        .isEqualTo("'s' is the string 'five'; expected an integer");
    assertThat(refusal(metadata, m -> m.bool("a")))
        .isEqualTo("'a' is an array of 2 strings; expected true or false");
    assertThat(refusal(metadata, m -> m.integers("a")))
        .isEqualTo("'a' is an array of 2 strings; expected an array of integers");
  }

  @Test
  void anIntegerOutsideAnIntIsRefusedWithItsValue() {
    GgufMetadata metadata =
        read(
            new GgufWriter()
                .put("less", GgufValue.int32(-1))
                .put("more", GgufValue.uint32(2_147_483_648L)));
    assertThat(refusal(metadata, m -> m.integer("less")))
        .isEqualTo("'less' is -1; expected 0 to 2147483647");
    assertThat(refusal(metadata, m -> m.integer("more")))
        .isEqualTo("'more' is 2147483648; expected 0 to 2147483647");
  }

  @Test
  void aLongValueIsTruncatedInItsErrorMessage() {
    GgufMetadata metadata = read(new GgufWriter().put("s", "x\u001b[2J\n".repeat(10_000)));
    assertThat(refusal(metadata, m -> m.integer("s"))).hasSizeLessThan(200);
  }

  private static GgufMetadata read(GgufWriter writer) {
    try (GgufFile file = InMemoryFiles.gguf(writer.bytes())) {
      return file.metadata();
    }
  }

  private static String refusal(GgufMetadata metadata, Function<GgufMetadata, Object> question) {
    return InMemoryFiles.refusal("tiny.gguf", catchThrowable(() -> question.apply(metadata)));
  }
}
