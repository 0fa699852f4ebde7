package dev.kvasir.lab.reproduce;

import dev.kvasir.runtime.LoadedModel;
import java.util.List;

/**
 * The caches of the papers' rows, in the papers' form: no window beyond the residual buffer, and
 * the papers' groups and first tokens.
 */
final class PaperCaches {
  static final String FULL = "fp16";
  static final String KIVI_2 = "kivi:2,window=0";
  static final String KIVI_4 = "kivi:4,window=0";

  /** With groups of 32, as CommVQ and MixKVQ compare with it. */
  static final String KIVI_1_SMALL = "kivi:1,group=32,window=0";

  static final String KIVI_2_SMALL = "kivi:2,group=32,window=0";
  static final String KIVI_4_SMALL = "kivi:4,group=32,window=0";

  static final String PATTERNKV_2 = "patternkv:2,rope=static,window=0";
  static final String PATTERNKV_4 = "patternkv:4,rope=static,window=0";

  static final String MIXKVQ = "mixkvq,sinks=32,window=0";

  private static final String PMKVQ_FORM = "keys=token,shrink=layer,born=wide";
  static final String PMKVQ_2 = "pmkvq:2,%s,widths=same".formatted(PMKVQ_FORM);
  static final String PMKVQ_4 = "pmkvq:4,%s,widths=same".formatted(PMKVQ_FORM);
  static final String PMKVQ_2_MIXED = "pmkvq:2,%s,widths=profile".formatted(PMKVQ_FORM);

  static final String PMKVQ_4_MIXED = "pmkvq:4,%s,widths=profile".formatted(PMKVQ_FORM);

  static final String COMMVQ_1 = "commvq:1,beam=1";
  static final String COMMVQ_2 = "commvq:2,beam=1";

  /** Thresholds of the paper for R1-Llama-8B, for models without their own. */
  private static final String MIXKVQ_THRESHOLDS = ",high=1.44,mid=0.79";

  private PaperCaches() {}

  /** Returns the rows with the thresholds that the model's profile lacks. */
  static List<TableRow> suited(List<TableRow> rows, LoadedModel model) {
    return rows.stream()
        .map(row -> new TableRow(row.label(), suited(row.spec(), model)))
        .toList();
  }

  static String suited(String spec, LoadedModel model) {
    boolean tuned = model.profile().filter(profile -> profile.parts().contains("mixkvq")).isPresent();
    return spec.startsWith("mixkvq") && !tuned ? spec + MIXKVQ_THRESHOLDS : spec;
  }

  static String patternkvWithout(String part) {
    return PATTERNKV_2 + ",%s=off".formatted(part);
  }

  static String patternkvWith(int patterns) {
    return PATTERNKV_2 + ",patterns=%d".formatted(patterns);
  }

  static String pmkvqShift(String shift) {
    return PMKVQ_4 + ",shift=%s".formatted(shift);
  }
}
