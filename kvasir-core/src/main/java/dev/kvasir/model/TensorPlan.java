package dev.kvasir.model;

import static java.util.stream.Collectors.toSet;

import dev.kvasir.codec.HeadShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.BlockLayout;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Mxfp4Pair;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import dev.kvasir.kernel.QuantizedWeights;
import dev.kvasir.kernel.ScaleFormat;
import dev.kvasir.kernel.WeightCodes;
import dev.kvasir.model.TensorNames.Part;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SortedMap;

/** The tensors of a decoder, with the shapes that a file must contain. */
public final class TensorPlan {
  private final TensorSource file;
  private final TensorNames names;
  private final SequencedMap<String, long[]> required = new LinkedHashMap<>();
  private final Map<String, long[]> optional = new LinkedHashMap<>();
  private final Set<String> transposed = new HashSet<>(); // fused latent projections
  private final ModelConfig config;
  private final Set<String> loadedAsFloats = new HashSet<>();
  private long mxfp4Values; // values in MXFP4 blocks, which are not tensors
  private long mxfp4Bytes; // loaded size of these blocks

  /** Layer parts that are slices of a fused tensor. */
  private final Map<LayerPart, Slice> slices = new LinkedHashMap<>();

  private record LayerPart(int layer, Part part) {}

  /** Rows of a tensor and of its bias. */
  private record Slice(String weight, String bias, long from, long to) {}

  TensorPlan(ModelConfig config, TensorSource file, TensorNames names) {
    this.config = config;
    this.file =
        RenamedTensors.of(
            names == TensorNames.HUGGING_FACE ? new TextTensors(file) : file,
            names.renamed(config.architecture()));
    this.names = names;
    int hidden = config.hidden();
    required.put(names.embedding(), new long[] {config.vocabulary(), hidden});
    if (config.inputChannels() > 0) {
      long width = (long) config.layers() * config.inputChannels();
      required.put(names.tokenInputs(), new long[] {config.vocabulary(), width});
      required.put(names.tokenInputProjection(), new long[] {width, hidden});
      required.put(names.tokenInputNorm(), new long[] {config.inputChannels()});
    }
    // Stop at the first missing layer, which is enough to fail. The names of a million more would
    // fill the memory.
    boolean isPresent = true;
    for (int layer = 0; isPresent && layer < config.layers(); layer++) {
      planLayer(config, layer);
      isPresent = hasTensor(required.lastEntry().getKey());
    }
    required.put(names.outputNorm(), new long[] {hidden});
    planOutput(config);
  }

  private void planOutput(ModelConfig config) {
    long[] shape = {config.vocabulary(), config.hidden()};
    switch (config.output()) {
      case OWN -> required.put(names.output(), shape);
      case OWN_OR_EMBEDDING -> optional.put(names.output(), shape);
      case EMBEDDING -> {}
    }
  }

  /** Plans the tensors of a GGUF file or a Hugging Face folder. */
  public static TensorPlan of(ModelConfig config, TensorSource file) {
    boolean isFolder = file instanceof SafetensorsFolder;
    return new TensorPlan(config, file, isFolder ? TensorNames.HUGGING_FACE : TensorNames.GGUF);
  }

  private void planLayer(ModelConfig config, int layer) {
    int hidden = config.hidden();
    Architecture family = config.architecture();
    family.norms().attention().ifPresent(part -> vector(layer, part, hidden));
    if (config.isRecurrent(layer)) {
      new RecurrentTensors(config, names).plan(this, layer);
    } else if (config.attends(layer)) {
      planAttention(config, layer);
    }
    family.norms().attentionOut().ifPresent(part -> vector(layer, part, hidden));
    family.norms().feedForward().ifPresent(part -> vector(layer, part, hidden));
    if (config.hasFeedForward(layer)) {
      planFeedForward(config, layer);
    }
    family.norms().feedForwardOut().ifPresent(part -> vector(layer, part, hidden));
    if (config.perLayer().isPresent()) {
      optional.put(names.outputScale(layer), new long[] {1});
    }
    if (config.inputChannels() > 0) {
      projection(layer, Part.INPUT_GATE, config.inputChannels(), hidden, false);
      projection(layer, Part.INPUT_PROJECTION, hidden, config.inputChannels(), false);
      vector(layer, Part.INPUT_NORM, hidden);
    }
  }

  private void planAttention(ModelConfig config, int layer) {
    int hidden = config.hidden();
    HeadShape heads = config.heads(layer);
    int queries = config.queryHeads() * heads.keyDim();
    int keys = heads.kvHeads() * heads.keyDim();
    int values = heads.kvHeads() * heads.valueDim();
    int outputs = config.queryHeads() * heads.valueDim();
    Architecture family = config.architecture();
    boolean biased = family.attentionBias() == Architecture.Bias.REQUIRED;
    if (config.latent().isPresent()) {
      planLatent(config, config.latent().get(), layer);
    } else if (hasTensor(layer, Part.QUERY_KEY_VALUE)) {
      int[] rows = {queries, keys, values};
      fused(layer, Part.QUERY_KEY_VALUE, hidden, biased, rows, Part.QUERY, Part.KEY, Part.VALUE);
    } else {
      long gates = family.traits().hasGatedQueries() ? queries : 0;
      projection(layer, Part.QUERY, queries + gates, hidden, biased);
      if (!config.sharesCache(layer)) {
        projection(layer, Part.KEY, keys, hidden, biased);
        if (!hasValuesOfKeys(layer)) {
          projection(layer, Part.VALUE, values, hidden, biased);
        } else if (keys != values) {
          throw new InvalidInputException(
              "%s: layer %d has no values of its own, and keys of %d channels instead of %d"
                  .formatted(file.name(), layer, keys, values));
        }
      }
    }
    planHeadNorms(config, layer);
    if (config.latent().isEmpty()) {
      projection(layer, Part.OUTPUT, hidden, outputs, family.traits().hasSinks());
    }
    if (family.traits().hasSinks()) {
      required.put(names.sinks(layer), new long[] {config.queryHeads()});
    }
  }

  /** Returns whether values are the projected keys, because a family without its own has none. */
  boolean hasValuesOfKeys(int layer) {
    return config.architecture().traits().hasNormalizedValues() && !hasTensor(layer, Part.VALUE);
  }

  private void planHeadNorms(ModelConfig config, int layer) {
    HeadShape heads = config.heads(layer);
    switch (config.architecture().headNorms()) {
      case NONE -> {}
      case PER_HEAD -> {
        vector(layer, Part.QUERY_NORM, heads.keyDim());
        if (!config.sharesCache(layer)) {
          vector(layer, Part.KEY_NORM, heads.keyDim());
        }
      }
      case PER_HEAD_IF_PRESENT -> {
        if (hasTensor(layer, Part.QUERY_NORM) || hasTensor(layer, Part.KEY_NORM)) {
          vector(layer, Part.QUERY_NORM, heads.keyDim());
          vector(layer, Part.KEY_NORM, heads.keyDim());
        }
      }
      case ALL_HEADS -> {
        vector(layer, Part.QUERY_NORM, (long) config.queryHeads() * heads.keyDim());
        vector(layer, Part.KEY_NORM, (long) heads.kvHeads() * heads.keyDim());
      }
    }
  }

  private void planFeedForward(ModelConfig config, int layer) {
    if (config.hasExperts(layer)) {
      ExpertTensors.of(config, this).plan(this, layer);
      if (!config.architecture().traits().hasDenseBesideExperts()) {
        return;
      }
      required.put(names.routerScale(layer), new long[] {config.hidden()});
      vector(layer, Part.DENSE_OUT_NORM, config.hidden());
      vector(layer, Part.EXPERT_NORM, config.hidden());
      vector(layer, Part.EXPERT_OUT_NORM, config.hidden());
    }
    int hidden = config.hidden();
    int gates = config.feedForward(layer);
    if (config.architecture().traits().isUngated()) {
      projection(layer, Part.UP, gates, hidden, false);
      projection(layer, Part.DOWN, hidden, gates, false);
      return;
    }
    if (config.architecture().traits().mayFuseGates() && !hasTensor(layer, Part.GATE)) {
      int[] rows = {gates, gates};
      fused(layer, Part.GATE_UP, hidden, false, rows, Part.GATE, Part.UP);
    } else {
      projection(layer, Part.GATE, gates, hidden, false);
      projection(layer, Part.UP, gates, hidden, false);
    }
    projection(layer, Part.DOWN, hidden, gates, false);
  }

  private boolean hasTensor(int layer, Part part) {
    return hasTensor(names.weight(layer, part));
  }

  /** Adds one tensor that contains the rows of several parts in turn. */
  private void fused(
      int layer, Part whole, long columns, boolean biased, int[] rows, Part... parts) {
    projection(layer, whole, Arrays.stream(rows).asLongStream().sum(), columns, biased);
    long from = 0;
    for (int i = 0; i < parts.length; i++) {
      long to = from + rows[i];
      slices.put(
          new LayerPart(layer, parts[i]),
          new Slice(names.weight(layer, whole), names.bias(layer, whole), from, to));
      from = to;
    }
  }

  private void planLatent(ModelConfig config, LatentConfig latent, int layer) {
    int hidden = config.hidden();
    long heads = config.queryHeads();
    if (latent.queryRank() == 0) {
      projection(layer, Part.QUERY, heads * latent.headDim(), hidden, false);
    } else {
      projection(layer, Part.QUERY_DOWN, latent.queryRank(), hidden, false);
      vector(layer, Part.QUERY_LATENT_NORM, latent.queryRank());
      projection(layer, Part.QUERY_UP, heads * latent.headDim(), latent.queryRank(), false);
    }
    projection(layer, Part.LATENT, latent.keyDim(), hidden, false);
    vector(layer, Part.LATENT_NORM, latent.rank());
    required.putAll(LatentTensors.shapes(latent, heads, file, names, layer));
    if (LatentTensors.isFused(file, names, layer)) {
      transposed.add(names.weight(layer, Part.KEY_VALUE_UP));
    }
    projection(layer, Part.OUTPUT, hidden, heads * latent.output(), false);
  }

  /** Adds a tensor that the file must contain. */
  void addRequired(String name, long... shape) {
    required.put(name, shape);
  }

  /** Adds a tensor that the file must contain and that is loaded as floats, whatever its shape. */
  void addRequiredFloats(String name, long... shape) {
    required.put(name, shape);
    loadedAsFloats.add(name);
  }

  /** Adds a tensor that the file may contain. */
  void addOptional(String name, long... shape) {
    optional.put(name, shape);
  }

  /** Returns whether the file has a tensor of that name, of any shape. */
  boolean hasTensor(String name) {
    return file.find(name).isPresent();
  }

  /** Returns the number of dimensions of a tensor; empty if the file does not contain it. */
  Optional<Integer> dimensions(String name) {
    return file.find(name).map(tensor -> tensor.shape().length);
  }

  /** Returns the MXFP4 blocks and scales of that name, if the file stores experts that way. */
  Optional<Mxfp4Pair> mxfp4(String name) {
    return file instanceof TextTensors texts ? texts.findMxfp4(name) : Optional.empty();
  }

  /** Adds MXFP4 blocks and scales; fails unless they have these sizes. */
  void addRequiredMxfp4(String name, int experts, int rows, int columns) {
    Mxfp4Pair pair = mxfp4(name).orElseThrow();
    if (pair.experts() != experts || pair.rows() != rows || pair.columns() != columns) {
      throw new InvalidInputException(
          "%s: tensor '%s_blocks' has %d experts of %d x %d; expected %d of %d x %d"
              .formatted(
                  file.name(),
                  name,
                  pair.experts(),
                  pair.rows(),
                  pair.columns(),
                  experts,
                  rows,
                  columns));
    }
    mxfp4Values += (long) experts * rows * columns;
    mxfp4Bytes += experts * quantizedBytes(GgmlType.MXFP4.layout(), rows, columns);
  }

  private void vector(int layer, Part part, long length) {
    required.put(names.weight(layer, part), new long[] {length});
  }

  void projection(int layer, Part part, long rows, long columns, boolean biased) {
    required.put(names.weight(layer, part), new long[] {rows, columns});
    (biased ? required : optional).put(names.bias(layer, part), new long[] {rows});
  }

  /** Returns the number of values in MXFP4 blocks, which are not tensors. */
  public long mxfp4Values() {
    return mxfp4Values;
  }

  public String fileName() {
    return file.name();
  }

  TensorNames names() {
    return names;
  }

  /** Returns whether the file must contain a tensor of that name. */
  boolean requires(String name) {
    return required.containsKey(name);
  }

  /** Returns whether the file must or may contain a tensor of that name. */
  boolean contains(String name) {
    return required.containsKey(name) || optional.containsKey(name);
  }

  public Tensor embedding() {
    return require(names.embedding());
  }

  /** Returns the norm before the output layer. */
  public Tensor outputNorm() {
    return require(names.outputNorm());
  }

  /** Returns the weights of the output layer; empty if they are those of the embedding. */
  public Optional<Tensor> output() {
    return find(names.output());
  }

  /** Returns the norm of a part; empty if the layer has none. */
  public Optional<Tensor> norm(int layer, Part part) {
    return find(names.weight(layer, part));
  }

  /** Returns the scores of a layer's learned attention sinks; empty if it has none. */
  public Optional<Tensor> sinks(int layer) {
    String name = names.sinks(layer);
    return requires(name) ? Optional.of(require(name)) : Optional.empty();
  }

  /** Returns the factors of a norm, which some folders store minus one. */
  public float[] normWeights(Tensor norm) {
    float[] weights = norm.toFloats();
    float added = names.normOffset(config.architecture());
    for (int i = 0; added != 0 && i < weights.length; i++) {
      weights[i] += added;
    }
    return weights;
  }

  /** Returns the matrix of a part, which may be a slice of a fused tensor. */
  public Tensor weight(int layer, Part part) {
    Slice slice = slices.get(new LayerPart(layer, part));
    return slice == null
        ? require(names.weight(layer, part))
        : require(slice.weight).rows(slice.from, slice.to);
  }

  public Optional<Tensor> bias(int layer, Part part) {
    Slice slice = slices.get(new LayerPart(layer, part));
    return slice == null
        ? find(names.bias(layer, part))
        : find(slice.bias).map(whole -> whole.rows(slice.from, slice.to));
  }

  /** Returns a tensor of the plan; fails unless the file contains it in its shape. */
  public Tensor require(String name) {
    return file.require(name, required.containsKey(name) ? required.get(name) : optional.get(name));
  }

  /** Returns a tensor; empty if it is optional and missing. */
  public Optional<Tensor> find(String name) {
    return required.containsKey(name)
        ? Optional.of(require(name))
        : file.find(name).filter(tensor -> optional.containsKey(name)).map(t -> require(name));
  }

  /**
   * Returns the bytes of the loaded weights; fails if a tensor is missing or has the wrong shape.
   * Reads no weights.
   */
  public long loadedBytes() {
    long bytes = mxfp4Bytes;
    Set<String> sliced = slices.values().stream().map(Slice::weight).collect(toSet());
    for (String name : required.keySet()) {
      Tensor whole = require(name);
      if (loadedAsFloats.contains(name)) {
        bytes += whole.values() * Float.BYTES;
      } else if (!sliced.contains(name)) {
        bytes += bytesOf(name, whole);
      }
    }
    for (LayerPart layerPart : slices.keySet()) {
      bytes += loadedBytes(weight(layerPart.layer, layerPart.part));
    }
    for (String name : optional.keySet()) {
      bytes += find(name).map(TensorPlan::loadedBytes).orElse(0L);
    }
    return bytes;
  }

  private long bytesOf(String name, Tensor whole) {
    return transposed.contains(name)
        ? LatentTensors.transposedBytes(whole, config.latent().orElseThrow(), config.queryHeads())
        : loadedBytes(whole);
  }

  /**
   * Returns the loaded bytes of a tensor. Vectors become floats, quantized matrices are repacked,
   * others stay mapped.
   */
  private static long loadedBytes(Tensor tensor) {
    if (tensor.shape().length == 1) {
      return tensor.values() * Float.BYTES;
    }
    long[] shape = tensor.shape();
    return shape.length == 3
        ? shape[0] * matrixBytes(tensor, shape[1], shape[2])
        : matrixBytes(tensor, shape[0], shape[1]);
  }

  /** Returns the bytes of a matrix of a tensor's type. */
  static long matrixBytes(Tensor tensor, long rows, long columns) {
    if (tensor.type().isFloat()) {
      return tensor.type().bytesFor(rows * columns);
    }
    return quantizedBytes(tensor.type().layout(), rows, columns);
  }

  private static long quantizedBytes(BlockLayout layout, long rows, long columns) {
    return QuantizedWeights.bytesFor(
        rows, columns, weightCodes(layout), layout.groupLength(), scaleForm(layout));
  }

  /** Returns how quantized weights store the codes of a layout. */
  static WeightCodes weightCodes(BlockLayout layout) {
    return switch (layout.codes()) {
      case BlockLayout.Codes.Range range -> WeightCodes.of(range.lowest(), range.highest());
      case BlockLayout.Codes.Levels levels -> WeightCodes.levels(levels.values());
    };
  }

  /** Returns how quantized weights store the scales of a layout: as in the file, where possible. */
  static ScaleFormat scaleForm(BlockLayout layout) {
    ScaleFormat.ScaleEncoding numbers =
        switch (layout.scales()) {
          case FLOATS -> ScaleFormat.ScaleEncoding.FLOATS;
          case HALVES -> ScaleFormat.ScaleEncoding.HALVES;
          case PRODUCTS -> ScaleFormat.ScaleEncoding.PRODUCTS;
        };
    int factor = layout.minimumFactor();
    return new ScaleFormat(numbers, layout.hasMinimums() && factor == 0, factor);
  }

  /**
   * Finds the tensors of a Hugging Face folder by the names of a text-only decoder. Multimodal
   * models add a prefix or infix to them.
   */
  private record TextTensors(TensorSource folder) implements TensorSource {
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
    public void protect() {
      folder.protect();
    }

    @Override
    public boolean isIntact() {
      return folder.isIntact();
    }

    @Override
    public void close() {
      folder.close();
    }
  }
}
