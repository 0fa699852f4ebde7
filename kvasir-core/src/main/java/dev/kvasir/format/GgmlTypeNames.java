package dev.kvasir.format;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/** Names for messages, also of types that exist in GGUF files but are not read here. */
final class GgmlTypeNames {
  private static final Map<Integer, String> NOT_READ =
      Map.ofEntries(
          Map.entry(9, "Q8_1"),
          Map.entry(15, "Q8_K"),
          Map.entry(16, "IQ2_XXS"),
          Map.entry(17, "IQ2_XS"),
          Map.entry(18, "IQ3_XXS"),
          Map.entry(19, "IQ1_S"),
          Map.entry(21, "IQ3_S"),
          Map.entry(22, "IQ2_S"),
          Map.entry(23, "IQ4_XS"),
          Map.entry(24, "I8"),
          Map.entry(25, "I16"),
          Map.entry(26, "I32"),
          Map.entry(27, "I64"),
          Map.entry(28, "F64"),
          Map.entry(29, "IQ1_M"),
          Map.entry(34, "TQ1_0"),
          Map.entry(35, "TQ2_0"),
          Map.entry(39, "MXFP4"));

  private GgmlTypeNames() {}

  static String describe(int wireNumber) {
    String name = NOT_READ.get(wireNumber);
    return name != null
        ? "%s (%d)".formatted(name, wireNumber)
        : "number %s, which is unknown".formatted(Integer.toUnsignedString(wireNumber));
  }

  static String supported() {
    return Arrays.stream(GgmlType.values()).map(Enum::name).collect(Collectors.joining(", "));
  }
}
