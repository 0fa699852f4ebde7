package dev.kvasir.server.page;

import com.google.gson.Gson;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** A response of the stub server: a stream of lines, or an error. */
record StubResponse(int status, Map<String, String> headers, List<String> lines) {
  private static final String USAGE =
      """
      {"choices":[],"usage":{"prompt_tokens":1100,"completion_tokens":42,"total_tokens":1142,\
      "prompt_tokens_details":{"cached_tokens":1024}},"timings":{"prompt_n":76,"prompt_ms":38.0,\
      "prompt_per_second":2000.0,"predicted_n":42,"predicted_ms":1000.0,\
      "predicted_per_second":42.5,"cache_n":1024}}""";

  /** Returns the chunks of a chat response. */
  static StubResponse chat(String... pieces) {
    return stream(
        Arrays.stream(pieces).map(piece -> delta("content", piece)).toList(),
        "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}");
  }

  /** Returns the chunks of a text completion. */
  static StubResponse text(String... pieces) {
    return stream(
        Arrays.stream(pieces)
            .map(
                piece ->
                    "{\"choices\":[{\"index\":0,\"text\":%s,\"finish_reason\":null}]}"
                        .formatted(new Gson().toJson(piece)))
            .toList(),
        "{\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"length\"}]}");
  }

  private static StubResponse stream(List<String> pieces, String end) {
    List<String> lines = new ArrayList<>(pieces.stream().map(StubResponse::data).toList());
    lines.add(data(end));
    lines.add(data(USAGE));
    lines.add(data("[DONE]"));
    return new StubResponse(200, Map.of(), lines);
  }

  static String data(String json) {
    return "data: %s\n\n".formatted(json);
  }

  static String delta(String field, String piece) {
    return "{\"choices\":[{\"index\":0,\"delta\":{\"%s\":%s},\"finish_reason\":null}]}"
        .formatted(field, new Gson().toJson(piece));
  }

  /** Returns a copy whose cached tokens came from a store. */
  StubResponse fetchedFrom(String place, double millis) {
    String found =
        "\"cache_n\":1024,\"cache_place\":\"%s\",\"cache_ms\":%s".formatted(place, millis);
    return new StubResponse(
        status,
        headers,
        lines.stream().map(line -> line.replace("\"cache_n\":1024", found)).toList());
  }

  /** Returns a copy with additional first lines. */
  StubResponse after(String... first) {
    List<String> all = new ArrayList<>(List.of(first));
    all.addAll(lines);
    return new StubResponse(status, headers, all);
  }

  /** Returns the first lines, followed by an error. */
  StubResponse failingAfter(int count, String message) {
    List<String> all = new ArrayList<>(lines.subList(0, count));
    all.add(data(error(message)));
    return new StubResponse(status, headers, all);
  }

  /** Returns the first lines only. */
  StubResponse endingAfter(int count) {
    return new StubResponse(status, headers, lines.subList(0, count));
  }

  static StubResponse refusal(int status, String message) {
    return new StubResponse(status, Map.of(), List.of(error(message)));
  }

  StubResponse with(String header, String value) {
    return new StubResponse(status, Map.of(header, value), lines);
  }

  private static String error(String message) {
    return "{\"error\":{\"message\":%s,\"type\":\"server_error\",\"param\":null,\"code\":null}}"
        .formatted(new Gson().toJson(message));
  }
}
