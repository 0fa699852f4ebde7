package dev.kvasir.model;

import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Finds tensors by the names that most families use in a file of a family with names of its own.
 *
 * @param names parts of usual names, and what the file has in their place
 */
record RenamedTensors(TensorSource file, Map<String, String> names) implements TensorSource {
  /** Returns a source that knows the names of a family. */
  static TensorSource of(TensorSource file, Map<String, String> names) {
    return names.isEmpty() ? file : new RenamedTensors(file, names);
  }

  @Override
  public String name() {
    return file.name();
  }

  @Override
  public Collection<Tensor> tensors() {
    return file.tensors();
  }

  @Override
  public SortedMap<String, MemorySegment> pairedBytes() {
    return file.pairedBytes();
  }

  @Override
  public Optional<Tensor> find(String tensorName) {
    return file.find(inFile(tensorName));
  }

  @Override
  public Tensor require(String tensorName, long... shape) {
    return file.require(inFile(tensorName), shape);
  }

  private String inFile(String tensorName) {
    return inFile(tensorName, names);
  }

  /** Returns the name of a tensor in a file. */
  static String inFile(String tensorName, Map<String, String> names) {
    String renamed = tensorName;
    for (Map.Entry<String, String> each : names.entrySet()) {
      renamed = renamed.replace(each.getKey(), each.getValue());
    }
    return renamed;
  }

  @Override
  public void protect() {
    file.protect();
  }

  @Override
  public boolean isIntact() {
    return file.isIntact();
  }

  @Override
  public void close() {
    file.close();
  }
}
