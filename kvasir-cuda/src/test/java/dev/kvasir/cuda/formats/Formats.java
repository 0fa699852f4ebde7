package dev.kvasir.cuda.formats;

import dev.kvasir.cuda.formats.kivi.KiviFormat;
import java.util.List;
import java.util.stream.Stream;

/** The page formats under test. */
final class Formats {
  /** Those with kernels of their own. */
  static final List<PageFormat> OWN = List.of(new KiviFormat(4), new KiviFormat(2));

  /** Those of the kernel for any widths: each width of keys and each of values. */
  static final List<PageFormat> MIXED =
      List.of(
          new KiviFormat(1),
          new KiviFormat(3),
          new KiviFormat(8),
          new KiviFormat(4, 2),
          new KiviFormat(2, 4));

  static final List<PageFormat> PACKED = concat(OWN, MIXED);
  static final List<PageFormat> ALL = concat(List.of(PageFormat.FP16), PACKED);

  /** Those that prompts read as they are; others are dequantized first. */
  static final List<PageFormat> READ_BY_PROMPTS = concat(List.of(PageFormat.FP16), OWN);

  private Formats() {}

  private static List<PageFormat> concat(List<PageFormat> some, List<PageFormat> others) {
    return Stream.concat(some.stream(), others.stream()).toList();
  }

  /** Returns a format by its kernel name. */
  static PageFormat named(String name) {
    return ALL.stream().filter(each -> each.kernelName().equals(name)).findFirst().orElseThrow();
  }
}
