package dev.kvasir.cli.run;

import com.google.gson.JsonObject;
import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.lab.roundtrip.Dump;
import dev.kvasir.lab.roundtrip.RoundTripOptions;
import dev.kvasir.lab.roundtrip.RoundTripResult;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** The results of a round trip as text and as JSON. */
final class RoundTripFigures {
  private RoundTripFigures() {}

  static void describe(
      Dump dump, RoundTripOptions options, RoundTripResult result, FactSheet sheet) {
    sheet.line("cache", options.cache());
    sheet.line(
        "vectors",
        "%s in %d heads of %d channels"
            .formatted(Units.tokens(dump.tokens()), dump.keys().heads(), dump.keys().headDim()));
    sheet.line("size", Units.bitsPerValue(result.bitsPerValue()));
    parts(result.bytes())
        .forEach(
            (part, bytes) ->
                sheet.line("  " + part, String.format(Locale.ROOT, "%,15d bytes", bytes)));
    sheet.line("key error", error(result.keyError()));
    sheet.line("value error", error(result.valueError()));
    result.outputError().ifPresent(error -> sheet.line("output error", error(error)));
  }

  private static String error(double relative) {
    return String.format(Locale.ROOT, "%.6f", relative);
  }

  static JsonObject json(RoundTripResult result) {
    JsonObject bytes = new JsonObject();
    parts(result.bytes()).forEach(bytes::addProperty);
    JsonObject figures = new JsonObject();
    figures.addProperty("bitsPerValue", result.bitsPerValue());
    figures.add("bytes", bytes);
    figures.addProperty("keyError", result.keyError());
    figures.addProperty("valueError", result.valueError());
    result.outputError().ifPresent(error -> figures.addProperty("outputError", error));
    return figures;
  }

  private static Map<String, Long> parts(CacheBytes bytes) {
    Map<String, Long> parts = new LinkedHashMap<>();
    parts.put("codes", bytes.codes());
    parts.put("scales", bytes.scales());
    parts.put("window", bytes.window());
    parts.put("sinks", bytes.sinks());
    parts.put("tables", bytes.tables());
    parts.put("total", bytes.total());
    return parts;
  }
}
