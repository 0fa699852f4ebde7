package dev.kvasir.cuda.formats;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.spi.QuantizationMethod;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Page formats are found like the methods that they belong to. */
class PageFormatRegistryTest {
  @Test
  void everyFormatBelongsToOneMethod() {
    List<String> methods =
        PageFormatRegistry.all().stream().map(PageFormatProvider::method).toList();
    List<String> known =
        MethodRegistry.all().stream().map(QuantizationMethod::names).flatMap(List::stream).toList();
    assertThat(methods).doesNotHaveDuplicates().isSubsetOf(known);
  }
}
