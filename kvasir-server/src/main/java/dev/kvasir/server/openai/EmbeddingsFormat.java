package dev.kvasir.server.openai;

import dev.kvasir.Embedder.Embedding;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import java.util.List;

/**
 * Writes the response to a request for embeddings. Numbers are written as text at once, since
 * objects for each would take ten times the memory of the response.
 */
public final class EmbeddingsFormat {
  private EmbeddingsFormat() {}

  /**
   * @param model the name as JSON
   */
  public static String json(String model, EmbeddingsReader request, List<Embedding> embeddings) {
    StringBuilder out = new StringBuilder("{\"object\":\"list\",\"data\":[");
    int tokens = 0;
    for (int i = 0; i < embeddings.size(); i++) {
      Embedding whole = embeddings.get(i);
      tokens += whole.tokens();
      float[] vector =
          request.dimensions() == whole.vector().length
              ? whole.vector()
              : whole.truncated(request.dimensions()).vector();
      out.append(i == 0 ? "" : ",")
          .append("{\"object\":\"embedding\",\"index\":")
          .append(i)
          .append(",\"embedding\":");
      if (request.isBase64()) {
        out.append('"').append(base64(vector)).append('"');
      } else {
        writeNumbers(vector, out);
      }
      out.append('}');
    }
    return out.append("],\"model\":")
        .append(model)
        .append(",\"usage\":{\"prompt_tokens\":")
        .append(tokens)
        .append(",\"total_tokens\":")
        .append(tokens)
        .append("}}")
        .toString();
  }

  private static void writeNumbers(float[] vector, StringBuilder out) {
    out.append('[');
    for (int i = 0; i < vector.length; i++) {
      out.append(i == 0 ? "" : ",").append(vector[i]);
    }
    out.append(']');
  }

  private static String base64(float[] vector) {
    ByteBuffer bytes =
        ByteBuffer.allocate(vector.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(vector);
    return Base64.getEncoder().encodeToString(bytes.array());
  }
}
