package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.kvasir.error.InvalidInputException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Opens files in memory, or returns their error messages. */
public final class InMemoryFiles {
  private InMemoryFiles() {}

  static GgufFile gguf(byte... file) {
    return GgufFile.of("tiny.gguf", MemorySegment.ofArray(file), Arena.ofConfined());
  }

  static SafetensorsFile safetensors(byte... file) {
    return SafetensorsFile.of("tiny.safetensors", MemorySegment.ofArray(file), Arena.ofConfined());
  }

  static NpyFile npy(byte... file) {
    return NpyFile.of("tiny.npy", MemorySegment.ofArray(file), Arena.ofConfined());
  }

  static String refusalOfNpy(byte... file) {
    return refusal("tiny.npy", catchThrowable(() -> npy(file).close()));
  }

  static String refusalOfGguf(byte... file) {
    return refusal("tiny.gguf", catchThrowable(() -> gguf(file).close()));
  }

  static String refusalOfSafetensors(byte... file) {
    return refusal("tiny.safetensors", thrownBySafetensors(file));
  }

  static Throwable thrownBySafetensors(byte... file) {
    return catchThrowable(() -> safetensors(file).close());
  }

  /** Returns the error message after its prefix, the name of the file or a location in it. */
  public static String refusal(String fileName, Throwable thrown) {
    assertThat(thrown).isInstanceOf(InvalidInputException.class);
    assertThat(thrown.getMessage()).startsWith(fileName + ": ").doesNotEndWith(".");
    assertThat(thrown.getMessage().chars()).noneMatch(Character::isISOControl);
    return thrown.getMessage().substring(fileName.length() + 2);
  }

  static byte[] dataOf(Tensor tensor) {
    return tensor.data().toArray(ValueLayout.JAVA_BYTE);
  }
}
