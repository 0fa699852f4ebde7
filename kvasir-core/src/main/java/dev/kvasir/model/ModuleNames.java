package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.model.TensorNames.Part;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The tensors of a model by the names of its modules in Hugging Face's library, which adapters use.
 */
final class ModuleNames {
  /** Parts whose rows both formats have in the same order, apart from heads. */
  private static final List<Part> PARTS =
      List.of(
          Part.QUERY,
          Part.KEY,
          Part.VALUE,
          Part.OUTPUT,
          Part.QUERY_KEY_VALUE,
          Part.QUERY_DOWN,
          Part.QUERY_UP,
          Part.LATENT,
          Part.GATE,
          Part.UP,
          Part.GATE_UP,
          Part.DOWN);

  /** What multimodal models add to the names of their language model. */
  private static final String LANGUAGE_MODEL = "language_model.";

  /**
   * A tensor of the model.
   *
   * @param headDim channels of heads whose halves the file interleaves; 0 for none
   */
  private record Target(String tensor, int headDim) {}

  private final Map<String, Target> targets = new HashMap<>();

  private ModuleNames() {}

  static ModuleNames of(ModelConfig config, TensorNames names, String modelFile) {
    Architecture family = config.architecture();
    boolean isGguf = names == TensorNames.GGUF;
    if (isGguf && family.isHybrid()) {
      throw new InvalidInputException(
          "%s: is a GGUF file of a hybrid model; folders of PEFT adapt the model's folder"
              .formatted(modelFile));
    }
    boolean interleaves =
        isGguf
            && family.ggufRopeLayout() == RopeLayout.INTERLEAVED
            && HuggingFaceRopes.layout(family) == RopeLayout.HALVES
            && !family.isLatent();
    ModuleNames modules = new ModuleNames();
    modules.add(config, names, names.output(), TensorNames.HUGGING_FACE.output(), 0);
    for (int layer = 0; layer < config.layers(); layer++) {
      for (Part part : PARTS) {
        boolean isRotated = part == Part.QUERY || part == Part.KEY;
        int headDim = interleaves && isRotated ? config.heads(layer).keyDim() : 0;
        String module = TensorNames.HUGGING_FACE.weight(layer, part);
        modules.add(config, names, names.weight(layer, part), module, headDim);
      }
    }
    return modules;
  }

  private void add(
      ModelConfig config, TensorNames names, String tensor, String module, int headDim) {
    Architecture family = config.architecture();
    String inFolder =
        RenamedTensors.inFile(module, TensorNames.HUGGING_FACE.renamed(family))
            .replaceFirst("\\.weight$", "");
    targets.putIfAbsent(
        inFolder, new Target(RenamedTensors.inFile(tensor, names.renamed(family)), headDim));
  }

  /** Returns the name of a folder's tensor without what multimodal models add. */
  static String plain(String tensor) {
    return tensor.replace(LANGUAGE_MODEL, "");
  }

  /**
   * Returns factors of a module under the name of the tensor, with rows in its order.
   *
   * @param adapter its file, for messages
   */
  LoraPair inModel(String adapter, LoraPair pair) {
    Target target = targets.get(plain(pair.tensor()));
    if (target == null) {
      throw new InvalidInputException(
          "%s: adapts '%s', which this model does not have, or which takes no adapters"
              .formatted(adapter, pair.tensor()));
    }
    LoraPair named = pair.renamed(target.tensor());
    boolean fits = target.headDim() > 0 && pair.rows() % target.headDim() == 0;
    return fits ? named.withNeighbouringHalves(target.headDim()) : named;
  }
}
