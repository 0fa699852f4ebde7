package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import org.junit.jupiter.api.Test;

class SafetensorsFileTest {
  @Test
  void everyDtypeThatIsReadGivesTheBytesWritten() {
    byte[] f32 = {1, 2, 3, 4, 5, 6, 7, 8};
    byte[] f16 = {9, 10, 11, 12, 13, 14};
    byte[] bf16 = {15, 16};
    byte[] written =
        new SafetensorsWriter()
            .tensor("a", "F32", f32, 2, 1)
            .tensor("b", "F16", f16, 1, 3)
            .tensor("c", "BF16", bf16, 1)
            .bytes();
    try (SafetensorsFile file = InMemoryFiles.safetensors(written)) {
      assertThat(file.name()).isEqualTo("tiny.safetensors");
      assertThat(file.tensors()).extracting(Tensor::name).containsExactly("a", "b", "c");
      assertThat(file.tensors())
          .extracting(Tensor::type)
          .containsExactly(GgmlType.F32, GgmlType.F16, GgmlType.BF16);
      assertThat(InMemoryFiles.dataOf(file.require("a", 2, 1))).isEqualTo(f32);
      assertThat(InMemoryFiles.dataOf(file.require("b", 1, 3))).isEqualTo(f16);
      assertThat(InMemoryFiles.dataOf(file.require("c", 1))).isEqualTo(bf16);
    }
  }

  @Test
  void valuesKeepTheirOrder() {
    float[] values = {1, 2, 3, 4, 5, 6};
    byte[] written = new SafetensorsWriter().floats("w", values, 2, 3).bytes();
    try (SafetensorsFile file = InMemoryFiles.safetensors(written)) {
      assertThat(file.require("w", 2, 3).toFloats()).isEqualTo(values);
    }
  }

  @Test
  void aScalarHasOneValueAndAnEmptyTensorNone() {
    byte[] written =
        new SafetensorsWriter()
            .floats("scalar", new float[] {7})
            .floats("empty", new float[0], 3, 0)
            .bytes();
    try (SafetensorsFile file = InMemoryFiles.safetensors(written)) {
      assertThat(file.require("scalar").toFloats()).containsExactly(7);
      assertThat(file.require("scalar").shapeText()).isEqualTo("scalar");
      assertThat(file.require("empty", 3, 0).toFloats()).isEmpty();
    }
  }

  @Test
  void metadataIsReadAndCannotBeChanged() {
    byte[] written = new SafetensorsWriter().metadata("format", "pt").metadata("n", "1").bytes();
    try (SafetensorsFile file = InMemoryFiles.safetensors(written)) {
      assertThat(file.metadata()).containsEntry("format", "pt").containsEntry("n", "1").hasSize(2);
      assertThat(file.tensors()).isEmpty();
      assertThatThrownBy(() -> file.metadata().clear())
          .isInstanceOf(UnsupportedOperationException.class);
    }
  }

  @Test
  void anUnsupportedDtypeIsRefusedOnlyOnAccess() {
    byte[] written =
        new SafetensorsWriter()
            .tensor("ids", "I64", new byte[16], 2)
            .floats("w", new float[] {1}, 1)
            .bytes();
    try (SafetensorsFile file = InMemoryFiles.safetensors(written)) {
      assertThat(file.tensors()).extracting(Tensor::name).containsExactly("w");
      assertThat(file.require("w", 1).toFloats()).containsExactly(1);
      assertThat(InMemoryFiles.refusal("tiny.safetensors", catchThrowable(() -> file.find("ids"))))
          .isEqualTo("tensor 'ids' has dtype I64; supported are F32, F16, BF16");
    }
  }

  @Test
  void aMissingTensorAndAnotherShapeAreRefusedWithTheShapeExpected() {
    byte[] written = new SafetensorsWriter().floats("w", new float[6], 2, 3).bytes();
    try (SafetensorsFile file = InMemoryFiles.safetensors(written)) {
      assertThat(file.find("v")).isEmpty();
      assertThat(
              InMemoryFiles.refusal(
                  "tiny.safetensors", catchThrowable(() -> file.require("v", 2, 3))))
          .isEqualTo("tensor 'v' is missing; a tensor of shape 2 x 3 was expected");
      assertThat(
              InMemoryFiles.refusal(
                  "tiny.safetensors", catchThrowable(() -> file.require("w", 3, 2))))
          .isEqualTo("tensor 'w' has shape 2 x 3; expected 3 x 2");
      assertThat(InMemoryFiles.refusal("tiny.safetensors", catchThrowable(() -> file.require("w"))))
          .isEqualTo("tensor 'w' has shape 2 x 3; expected scalar");
    }
  }
}
