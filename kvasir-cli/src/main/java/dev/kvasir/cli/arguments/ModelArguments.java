package dev.kvasir.cli.arguments;

import dev.kvasir.choice.UserFolder;
import dev.kvasir.cli.terminal.Progress;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.model.Fingerprint;
import dev.kvasir.model.LoraAdapters;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.TensorPlan;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.BundledFiles;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ProfileSearch;
import dev.kvasir.text.Tokenizer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The model of a command. */
public final class ModelArguments {
  /** What {@code --model} takes. */
  public static final String DESCRIPTION =
      "A GGUF file, or a folder with config.json, tokenizer.json and safetensors files. For a GGUF"
          + " model in several files, name any of them. Or the name of a model on Hugging Face,"
          + " hf:OWNER/REPO[:Q4_K_M|:FILE][@REVISION], which is downloaded once.";

  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      description = DESCRIPTION + " Default: the small bundled model.")
  private ModelLocation location;

  @Mixin private AdapterArguments lora = new AdapterArguments();

  /** Returns the arguments of a model at a location, without adapters. */
  public static ModelArguments of(ModelLocation location) {
    return of(location, new AdapterArguments());
  }

  /** Returns the arguments of a model at a location; null for the bundled one. */
  public static ModelArguments of(ModelLocation location, AdapterArguments lora) {
    ModelArguments model = new ModelArguments();
    model.location = location;
    model.lora = lora;
    return model;
  }

  public boolean isBundled() {
    return location == null;
  }

  public boolean isFolder() {
    return location != null && Files.isDirectory(path());
  }

  /** Returns whether a folder has a configuration but no weights, which suffices for sizes. */
  public boolean isConfigOnly() {
    return isFolder()
        && Files.exists(path().resolve("config.json"))
        && !SafetensorsFolder.holdsWeights(path());
  }

  /**
   * Returns the given file or folder, after downloading a model that was named; null if bundled.
   */
  public Path path() {
    return location == null ? null : location.path();
  }

  /** Returns a name for files about a model that is not bundled. */
  public String shortName() {
    return location.shortName();
  }

  public LoadedModel load(EngineOptions options, Streams streams) {
    path(); // its download has a progress of its own
    try (Progress progress = new Progress(streams, "loading")) {
      EngineOptions withProgress =
          options.withProgress(progress::update).withAdapters(lora.adapters());
      return isBundled()
          ? LoadedModel.bundled(withProgress)
          : LoadedModel.load(path(), withProgress);
    }
  }

  /**
   * Returns the calibration profile of the model: the given one, the bundled model's own, or the
   * one found for the model.
   *
   * @param file that was given, or null
   */
  public Optional<Profile> profile(Path file) {
    if (file != null) {
      return Optional.of(Profile.open(file));
    }
    return isBundled() ? BundledFiles.profile() : foundProfile().map(Profile::open);
  }

  /** Returns the profile that loading the model finds; empty for the bundled model. */
  public Optional<Path> foundProfile() {
    return isBundled() || isConfigOnly()
        ? Optional.empty()
        : ProfileSearch.of(path(), fingerprint(), UserFolder.ofThisProcess()).file();
  }

  public GgufFile openGguf() {
    return isBundled() ? BundledFiles.open() : GgufFile.open(path());
  }

  /** Returns the tokenizer without loading weights. */
  public Tokenizer tokenizer() {
    if (isFolder()) {
      return Tokenizer.ofFolder(path());
    }
    try (GgufFile file = openGguf()) {
      return Tokenizer.ofGguf(file.name(), file.metadata());
    }
  }

  /**
   * Returns what the files state about the model, without loading weights.
   *
   * @param load options that change the model's context
   */
  public ModelOutline outline(LoadArguments load) {
    if (isConfigOnly()) {
      return new ModelOutline(path().toString(), load.fitted(ModelConfig.of(path())), "", 0);
    }
    if (isFolder()) {
      ModelConfig config = load.fitted(ModelConfig.of(path()));
      try (SafetensorsFolder folder = SafetensorsFolder.open(path())) {
        TensorPlan plan = TensorPlan.of(config, folder);
        return new ModelOutline(
            path().toString(), config, adapted(Fingerprint.of(config, folder)), plan.loadedBytes());
      }
    }
    try (GgufFile file = openGguf()) {
      ModelConfig config = load.fitted(ModelConfig.of(file));
      TensorPlan plan = TensorPlan.of(config, file);
      return new ModelOutline(
          file.name(), config, adapted(Fingerprint.of(config, file)), plan.loadedBytes());
    }
  }

  /**
   * Returns the fingerprint that sessions of the model record; it inspects the weights without
   * loading them.
   */
  public String fingerprint() {
    if (isFolder()) {
      try (SafetensorsFolder folder = SafetensorsFolder.open(path())) {
        return adapted(Fingerprint.of(ModelConfig.of(path()), folder));
      }
    }
    try (GgufFile file = openGguf()) {
      return adapted(Fingerprint.of(ModelConfig.of(file), file));
    }
  }

  private String adapted(String fingerprint) {
    return LoraAdapters.read(lora.adapters()).identity(fingerprint);
  }
}
