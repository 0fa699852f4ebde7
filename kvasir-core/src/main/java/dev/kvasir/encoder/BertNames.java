package dev.kvasir.encoder;

/** The names of tensors in GGUF files, by those of Hugging Face. */
final class BertNames {
  private static final String[][] RENAMED = {
    {"embeddings.word_embeddings", "token_embd"},
    {"embeddings.position_embeddings", "position_embd"},
    {"embeddings.token_type_embeddings", "token_types"},
    {"embeddings.LayerNorm", "token_embd_norm"},
    {"encoder.layer.", "blk."},
    {"attention.self.query", "attn_q"},
    {"attention.self.key", "attn_k"},
    {"attention.self.value", "attn_v"},
    {"attention.output.dense", "attn_output"},
    {"attention.output.LayerNorm", "attn_output_norm"},
    {"intermediate.dense", "ffn_up"},
    // What is left of these two names belongs to the feed-forward part.
    {"output.dense", "ffn_down"},
    {"output.LayerNorm", "layer_output_norm"},
  };

  private BertNames() {}

  static String gguf(String huggingFace) {
    String name = huggingFace;
    for (String[] pair : RENAMED) {
      name = name.replace(pair[0], pair[1]);
    }
    return name;
  }
}
