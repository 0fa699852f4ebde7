package dev.kvasir.format;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/** Type names for messages, including types of GGUF that are not supported. */
final class GgmlTypeNames {
  private static final Map<Integer, String> NOT_READ =
      Map.ofEntries(
          Map.entry(4, "Q4_2"),
          Map.entry(5, "Q4_3"),
          Map.entry(9, "Q8_1"),
          Map.entry(24, "I8"),
          Map.entry(25, "I16"),
          Map.entry(26, "I32"),
          Map.entry(27, "I64"),
          Map.entry(28, "F64"),
          Map.entry(31, "Q4_0_4_4"),
          Map.entry(32, "Q4_0_4_8"),
          Map.entry(33, "Q4_0_8_8"),
          Map.entry(36, "IQ4_NL_4_4"),
          Map.entry(37, "IQ4_NL_4_8"),
          Map.entry(38, "IQ4_NL_8_8"),
          Map.entry(40, "NVFP4"));

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
