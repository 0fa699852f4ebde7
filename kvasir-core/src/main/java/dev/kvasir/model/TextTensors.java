package dev.kvasir.model;

import dev.kvasir.format.Mxfp4Pair;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Finds the tensors of a Hugging Face folder by the names of a text-only decoder. Multimodal models
 * add a prefix or infix to them.
 */
record TextTensors(TensorSource folder) implements TensorSource {
  private static final String PART = "language_model.";
  private static final String ROOT = "model.";

  @Override
  public String name() {
    return folder.name();
  }

  @Override
  public Collection<Tensor> tensors() {
    return folder.tensors();
  }

  @Override
  public SortedMap<String, MemorySegment> pairedBytes() {
    return folder.pairedBytes();
  }

  @Override
  public Optional<Tensor> find(String tensorName) {
    return names(tensorName).stream().map(folder::find).flatMap(Optional::stream).findFirst();
  }

  /** Returns the MXFP4 blocks and scales of that name, if the folder stores experts that way. */
  Optional<Mxfp4Pair> findMxfp4(String tensorName) {
    return folder instanceof SafetensorsFolder files
        ? files.findMxfp4(tensorName)
        : Optional.empty();
  }

  private static List<String> names(String plain) {
    return plain.startsWith(ROOT)
        ? List.of(plain, PART + plain, ROOT + PART + plain.substring(ROOT.length()))
        : List.of(plain, PART + plain);
  }

  @Override
  public void close() {
    folder.close();
  }
}
