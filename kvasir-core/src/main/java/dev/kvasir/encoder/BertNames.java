package dev.kvasir.encoder;

import java.util.stream.Stream;

/** The names of tensors in files of all kinds, by those of BERT in Hugging Face folders. */
final class BertNames {
  private static final String[][] GGUF = {
    {"embeddings.word_embeddings", "token_embd"},
    {"embeddings.position_embeddings", "position_embd"},
    {"embeddings.token_type_embeddings", "token_types"},
    {"embeddings.LayerNorm", "token_embd_norm"},
    {"encoder.layer.", "blk."},
    {"attention.self.query_key_value", "attn_qkv"},
    {"attention.self.query", "attn_q"},
    {"attention.self.key", "attn_k"},
    {"attention.self.value", "attn_v"},
    {"attention.output.dense", "attn_output"},
    {"attention.output.LayerNorm", "attn_output_norm"},
    {"intermediate.dense", "ffn_up"},
    {"intermediate.gate", "ffn_gate"},
    // What is left of these two names belongs to the feed-forward part.
    {"output.dense", "ffn_down"},
    {"output.LayerNorm", "layer_output_norm"},
    {"classifier.dense", "cls"},
    {"classifier.out_proj", "cls.output"},
  };

  private static final String[][] NOMIC = {
    {"embeddings.LayerNorm", "emb_ln"},
    {"encoder.layer.", "encoder.layers."},
    {"attention.self.query_key_value", "attn.Wqkv"},
    {"attention.output.dense", "attn.out_proj"},
    {"attention.output.LayerNorm", "norm1"},
    {"intermediate.dense", "mlp.fc11"},
    {"intermediate.gate", "mlp.fc12"},
    {"output.dense", "mlp.fc2"},
    {"output.LayerNorm", "norm2"},
  };

  private BertNames() {}

  static String gguf(String name) {
    return renamed(name, GGUF);
  }

  /** Returns the names that a tensor may have, with the prefixes that models with heads add. */
  static Stream<String> candidates(String name) {
    return Stream.of(name, "bert." + name, "roberta." + name, gguf(name), renamed(name, NOMIC));
  }

  private static String renamed(String huggingFace, String[][] pairs) {
    String name = huggingFace;
    for (String[] pair : pairs) {
      name = name.replace(pair[0], pair[1]);
    }
    return name;
  }
}
