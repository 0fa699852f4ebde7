package dev.kvasir.server.page;

/** States of the stub server. */
final class StubStates {
  private static final String FRAME =
      """
      {"model":"%s","chat":%s,"context":16384,"kv":"kivi:2","kinds":["kivi:2","fp16"],
       "memory":{"limit":2147483648,"taken":805306368,"kept":268435456},
       "running":1,"queued":2,"tokens_per_second":123.4,
       "prefix":{"queries":10,"hits":7,"tokens":123456},
       "conversations":[%s]%s}
      """;
  private static final String CONVERSATION =
      """
      {"key":%s,"state":"%s","kv":"kivi:2","tokens":5120,"bytes":3145728,
       "values_bytes_fp16":20971520,"bits":2.4,"strip":[%s]}
      """;
  private static final String STRIP =
      """
      {"tokens":16,"bits":16,"what":"sinks"},{"tokens":4864,"bits":2.25,"what":"pages"},
      {"tokens":240,"bits":16,"what":"window"}
      """;
  private static final String ALL_WIDTHS =
      """
      {"tokens":512,"bits":16,"what":"sinks"},{"tokens":512,"bits":8.25,"what":"pages"},
      {"tokens":512,"bits":4.5,"what":"pages"},{"tokens":512,"bits":3.25,"what":"pages"},
      {"tokens":512,"bits":2.25,"what":"pages"},{"tokens":512,"bits":1.03,"what":"pages"}
      """;

  private static final String STORE =
      """
      ,"store":{"hits":3,"misses":2,"not_worth":1,"damaged":1,"tokens":12288,"bytes":9437184,
       "seconds_saved":41.25,"kept":9,"dropped":0,"prompt_tokens_per_second":245.7,"tiers":[
       {"place":"disk","name":"/var/lib/kvasir/conversations-of-this-machine","hits":120,
        "misses":4,"bytes_read":8388608,"bytes_written":16777216,"failures":0,"dropped":0,
        "bytes_per_second":1610612736,"bytes":5368709120},
       {"place":"redis","name":"redis://10.0.0.7:6379/0","hits":1,"misses":3,"bytes_read":1048576,
        "bytes_written":0,"failures":2,"dropped":7,"bytes_per_second":104857600}]}
      """;

  static final String EMPTY = FRAME.formatted("kvasir-chat", true, "", "");

  /** A model without a chat template. */
  static final String STORIES = FRAME.formatted("kvasir-mini", false, "", "");

  private StubStates() {}

  /** Returns a conversation of this browser, one of another and one without a name. */
  static String holding(String key) {
    return FRAME.formatted(
        "kvasir-chat",
        true,
        String.join(
            ",",
            CONVERSATION.formatted(BrowserPage.quoted(key), "running", STRIP),
            CONVERSATION.formatted("\"someone-else\"", "kept", ALL_WIDTHS),
            CONVERSATION.formatted("null", "waiting", "")),
        STORE);
  }

  /** Returns two prefixes of a conversation, the shorter one first. */
  static String holdingPrefixes(String key) {
    String whole = CONVERSATION.formatted(BrowserPage.quoted(key), "kept", STRIP);
    String prefix = whole.replace("\"tokens\":5120", "\"tokens\":256");
    return FRAME.formatted("kvasir-chat", true, prefix + "," + whole, "");
  }
}
