package dev.kvasir.cli.models;

import dev.kvasir.cli.arguments.DownloadReporter;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.hub.HubReference;
import dev.kvasir.hub.HubSettings;
import dev.kvasir.hub.ModelHub;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Downloads a model. */
@Command(
    name = "pull",
    description = {
      "Download a model from Hugging Face and print its path.",
      "An interrupted download continues where it ended. The cache is the one that Python's"
          + " huggingface_hub uses: HF_HOME or HF_HUB_CACHE names its folder, HF_TOKEN or 'hf auth"
          + " login' gives access to gated models, and HF_ENDPOINT names a mirror."
    },
    footer = {
      "  kvasir pull hf:Qwen/Qwen3-0.6B-GGUF",
      "  kvasir pull hf:Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF:Q8_0",
      "  kvasir pull hf:HuggingFaceTB/SmolLM2-135M-Instruct@main"
    })
public final class Pull implements Callable<Integer> {
  private final Streams streams;

  @Parameters(
      paramLabel = "MODEL",
      description =
          "hf:OWNER/REPO, then a quantization such as :Q8_0 or a :FILE, and a @REVISION if needed."
              + " Without a quantization it is Q4_K_M, or the nearest that the repository has.")
  private String model;

  public Pull(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    HubReference reference = HubReference.parse(model);
    Path path;
    try (DownloadReporter reporter = new DownloadReporter(streams)) {
      path = new ModelHub(HubSettings.ofThisProcess()).fetch(reference, reporter);
    }
    streams.out().println(path);
    streams.out().flush();
    return 0;
  }
}
