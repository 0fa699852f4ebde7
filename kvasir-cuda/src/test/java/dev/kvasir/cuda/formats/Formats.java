package dev.kvasir.cuda.formats;

import dev.kvasir.cuda.formats.kivi.KiviFormatProvider.KiviFormat;
import java.util.List;

/** The page formats under test. */
final class Formats {
  static final List<PageFormat> ALL =
      List.of(PageFormat.FP16, new KiviFormat(4), new KiviFormat(2));
  static final List<PageFormat> PACKED = List.of(new KiviFormat(4), new KiviFormat(2));

  private Formats() {}

  /** Returns a format by its kernel name. */
  static PageFormat named(String name) {
    return ALL.stream().filter(each -> each.kernelName().equals(name)).findFirst().orElseThrow();
  }
}
