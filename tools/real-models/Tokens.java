import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** How many texts both programs convert to the same token ids. */
record Tokens(int same, int all) {
  private static final List<String> TEXTS =
      List.of(
          "Hello, world!",
          "  two spaces,\ttab\n\n\nthree lines\r\n",
          "def f(x):\n    return {'a': x**2, \"b\": [1, 22, 333, 4444]}  # don't",
          "naïve café — “quotes” … £9.99 ½ straße ΑΒΓ Привет",
          "日本語のテキスト 한국어 中文 العربية हिन्दी",
          "👩‍👩‍👧‍👦 🇳🇴 é e\u0301 \u200b\u00a0\ufeff",
          "<|im_start|>user\nHi<|im_end|>\n[INST]");

  static Tokens of(LoadedModel model, LlamaServer server, LlamaLogits logits, String text) {
    int same = startsAlike(model.tokenizer().encode(text, true), logits) ? 1 : 0;
    List<String> texts = new ArrayList<>(TEXTS);
    texts.add("Hi" + model.tokenizer().eosText().orElse("") + "Hi");
    for (String each : texts) {
      if (Arrays.equals(model.tokenizer().encode(each, true), server.tokenize(each))) {
        same++;
      } else {
        System.err.println("other token ids: " + each.replace("\n", "\\n"));
      }
    }
    return new Tokens(same, texts.size() + 1);
  }

  private static boolean startsAlike(int[] ids, LlamaLogits logits) {
    int[] first = logits.ids();
    return ids.length >= first.length && Arrays.equals(first, Arrays.copyOf(ids, first.length));
  }
}
