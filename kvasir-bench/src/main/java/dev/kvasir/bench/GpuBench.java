package dev.kvasir.bench;

import dev.kvasir.bench.GpuAttentionTimer.GpuTime;
import dev.kvasir.cli.origin.Origin;
import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Device;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.engine.CudaEngine;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.report.GpuCapacity;
import dev.kvasir.lab.report.MeasurementsFile;
import dev.kvasir.memory.ByteCount;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Measures attention on a GPU, by page format. */
@Command(
    name = "gpu",
    description = {
      "Measure the attention of one generated token for each sequence in one layer, on a GPU.",
      "Random vectors; kinds of pages take turns in one run, on copies that are larger together"
          + " than the card's cache. Shown are medians in microseconds, launched one after another"
          + " (plain) and each let in while the one ahead of it ends (early), and how many times"
          + " faster than pages of halves."
    },
    footer = {"  kvasir bench gpu --shapes 8x32768:32/8x128 --pytorch"})
final class GpuBench implements Callable<Integer> {
  private final PrintStream out;
  private final PrintStream err;
  private final Map<String, Double> figures = new LinkedHashMap<>();

  @Spec private CommandSpec command;

  @Option(
      names = "--shapes",
      split = ",",
      paramLabel = "SHAPE",
      defaultValue =
          "1x8192:32/8x128,1x32768:32/8x128,1x131072:32/8x128,16x8192:32/8x128,8x32768:32/8x128,"
              + "1x16384:8/2x64,64x8192:8/2x64",
      description = {
        "What is measured, as BATCHxTOKENS:QUERY_HEADS/KV_HEADSxCHANNELS (default:"
            + " ${DEFAULT-VALUE}). The last two have the heads of the bundled model."
      })
  private String[] typed;

  @Option(
      names = "--kv",
      split = ";",
      paramLabel = "KINDS",
      defaultValue = "fp16;kivi:4,group=32;kivi:2,group=32",
      description = {
        "Kinds of caches whose pages are measured (default: ${DEFAULT-VALUE}); the first is what"
            + " others are compared with. Pages of pmkvq have the floor's bits. Codebooks, patterns"
            + " and smoothing factors are random ones."
      })
  private String[] typedKinds;

  @Option(
      names = "--value-heads",
      paramLabel = "N",
      description = {
        "KV heads whose values share codes in the random codebooks of commvq (default: as many as"
            + " 'calibrate' joins)."
      })
  private int valueHeads;

  @Option(
      names = "--steps",
      split = ",",
      paramLabel = "STEPS",
      description = {
        "Whole steps too, as BATCHxTOKENS:8b (sizes of Llama 8B, random Q8_0 weights),"
            + " BATCHxTOKENS:0.5b (of Qwen 2.5 0.5B), BATCHxTOKENS:8b-TYPE (weights of another"
            + " type, such as q4_k) or BATCHxTOKENS:bundled."
      })
  private String[] typedSteps = {};

  @Option(
      names = "--parts",
      description = "Take whole steps apart too: the time of each kind of kernel, one by one.")
  private boolean parts;

  @Option(
      names = "--quantize",
      description = {
        "For each of --steps, only the time in which the tokens of one sequence are quantized at"
            + " once, as after a prompt with --prefill exact."
      })
  private boolean quantizes;

  @Option(
      names = "--rows",
      defaultValue = "1",
      paramLabel = "N",
      description = {
        "Rows of each sequence in --steps: more than one are a part of a prompt (default:"
            + " ${DEFAULT-VALUE})."
      })
  private int rows;

  @Option(
      names = "--fill",
      paramLabel = "SIZE",
      description = {
        "For each of --steps, as many sequences instead as their pages fit into SIZE, such as"
            + " 100GiB."
      })
  private String fill;

  @Option(
      names = "--rounds",
      defaultValue = "15",
      paramLabel = "N",
      description = "Turns of each kind (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--pytorch",
      description = "Let PyTorch's fastest backend run too, by a python3 that has it.")
  private boolean pytorch;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write all figures to a file, by shape and kind.")
  private Path json;

  @Option(
      names = "--draw",
      paramLabel = "FILE",
      description = {
        "Measure nothing, and draw the sequences of a full card and their tokens a second into"
            + " FILE, an SVG, from the figures that --fill left in --json."
      })
  private Path drawn;

  GpuBench(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() {
    return drawn == null ? measure() : draw();
  }

  private int draw() {
    if (json == null) {
      throw new InvalidInputException(
          "--draw needs figures; expected --json FILE, as 'bench gpu --fill' left it");
    }
    AtomicFile.checkWritable(drawn);
    GpuCapacity.of(json).write(drawn);
    return 0;
  }

  private int measure() {
    OptionValue.atLeastOne("--rounds", rounds);
    OptionValue.atLeastOne("--rows", rows);
    List<GpuShape> shapes = Arrays.stream(typed).map(GpuShape::parse).toList();
    List<GpuSteps> steps =
        Arrays.stream(typedSteps).map(text -> GpuSteps.parse(text, rows)).toList();
    List<GpuKind> kinds = Arrays.stream(typedKinds).map(GpuKind::of).toList();
    long fillBytes = fill == null ? 0 : ByteCount.parse("--fill", fill);
    if (json != null) {
      AtomicFile.checkWritable(json);
    }
    Device device = Device.first();
    Map<GpuShape, PytorchTimes.Time> others = Map.of();
    if (pytorch) {
      err.println("PyTorch is running");
      others = PytorchTimes.measure(shapes);
    }
    out.printf(
        Locale.ROOT,
        "%s, %d multiprocessors, Java %s%n",
        device.name(),
        device.multiprocessors(),
        Runtime.version());
    out.printf(
        "%-20s %-23s %10s %7s %7s %10s %7s %7s%n",
        "shape", "pages", "plain us", "GB/s", "ratio", "early us", "GB/s", "ratio");
    try (CudaContext context = CudaContext.open(device);
        KernelModule module = KernelModule.load(context);
        CudaStream stream = CudaStream.open()) {
      for (GpuShape shape : shapes) {
        try (GpuAttentionTimer times = new GpuAttentionTimer(context, module, stream, shape)) {
          List<GpuKind> own =
              kinds.stream()
                  .map(kind -> kind.with(GpuModelParts.with(kind.cacheConfig(), shape, valueHeads)))
                  .map(kind -> kind.withFactors(shape))
                  .toList();
          show(shape, times.measure(own, rounds), others.get(shape));
        }
      }
    }
    if (fillBytes > 0) {
      figures.put(GpuCapacity.BYTES, (double) fillBytes);
    }
    if (!steps.isEmpty()) {
      out.printf("%-20s %-23s %10s %10s %7s%n", "steps", "pages", "us", "tokens/s", "ratio");
    }
    steps.forEach(each -> show(device, each, kinds, fillBytes));
    if (json != null) {
      MeasurementsFile.write(json, figures, Origin.of(command));
    }
    return 0;
  }

  private void show(GpuShape shape, List<GpuTime> measured, PytorchTimes.Time other) {
    GpuTime first = measured.getFirst();
    for (GpuTime each : measured) {
      long bytes = shape.bytes(each.kind());
      String name = each.kind().name();
      out.printf(
          Locale.ROOT,
          "%-20s %-23s %10.2f %7.0f %7.2f %10.2f %7.0f %7.2f%n",
          shape,
          name,
          each.plain(),
          bytes / each.plain() / 1e3,
          first.plain() / each.plain(),
          each.early(),
          bytes / each.early() / 1e3,
          first.early() / each.early());
      figures.put("%s %s plain micros".formatted(shape, name), each.plain());
      figures.put("%s %s early micros".formatted(shape, name), each.early());
      if (other != null) {
        figures.put(
            "%s %s plain against PyTorch".formatted(shape, name), other.micros() / each.plain());
        figures.put(
            "%s %s early against PyTorch".formatted(shape, name), other.micros() / each.early());
      }
    }
    if (other != null) {
      showPytorch(shape, measured, other);
    }
    out.flush();
  }

  private void showPytorch(GpuShape shape, List<GpuTime> measured, PytorchTimes.Time other) {
    out.printf(
        Locale.ROOT,
        "%-20s %-23s %10.2f %7.0f   %s of PyTorch %s; against it",
        shape,
        "fp16",
        other.micros(),
        shape.fp16Bytes() / other.micros() / 1e3,
        other.backend(),
        other.version());
    for (GpuTime each : measured) {
      out.printf(
          Locale.ROOT,
          " %s %.2f/%.2f",
          each.kind().name(),
          other.micros() / each.plain(),
          other.micros() / each.early());
    }
    out.println();
    figures.put("%s PyTorch micros".formatted(shape), other.micros());
  }

  private void show(Device device, GpuSteps steps, List<GpuKind> kinds, long fillBytes) {
    double first = Double.NaN;
    try (CudaEngine engine = steps.open(device)) {
      for (GpuKind typed : kinds) {
        DeviceCacheConfig cacheConfig =
            GpuModelParts.with(typed.cacheConfig(), engine.config(), valueHeads);
        PageFormat format = cacheConfig.format();
        if (quantizes) {
          showQuantization(steps, format, steps.quantizationMicros(engine, cacheConfig, rounds));
          continue;
        }
        GpuSteps sized =
            fillBytes == 0 ? steps : steps.filling(engine, cacheConfig, fillBytes, 2 * rounds);
        Estimate micros = sized.micros(engine, cacheConfig, rounds);
        double speed = 1e6 * sized.batch() * rows / micros.value();
        first = typed == kinds.getFirst() ? speed : first;
        out.printf(
            Locale.ROOT,
            "%-20s %-23s %10.1f %10.0f %7.2f%n",
            sized,
            name(format),
            micros.value(),
            speed,
            speed / first);
        MeasurementsFile.put(figures, "%s %s step micros".formatted(sized, name(format)), micros);
        MeasurementsFile.put(
            figures, typed.name() + " throughput", throughput(sized.batch(), micros, first));
        out.flush();
        if (parts) {
          showParts(sized, format, sized.parts(engine, cacheConfig, rounds));
        }
      }
    }
  }

  /** Returns tokens per second relative to the first kind; a longer step makes fewer. */
  private Estimate throughput(int batch, Estimate micros, double first) {
    double tokens = 1e6 * batch * rows / first;
    return new Estimate(tokens / micros.value(), tokens / micros.high(), tokens / micros.low());
  }

  private void showQuantization(GpuSteps steps, PageFormat format, double micros) {
    out.printf(
        Locale.ROOT,
        "%-20s %-10s %10.1f to quantize %d tokens%n",
        steps,
        name(format),
        micros,
        steps.tokens());
    figures.put("%s %s quantization micros".formatted(steps, name(format)), micros);
    out.flush();
  }

  private void showParts(GpuSteps steps, PageFormat format, Map<String, Double> micros) {
    micros.forEach(
        (part, each) -> {
          out.printf(Locale.ROOT, "    %-20s %10.1f%n", part, each);
          figures.put("%s %s %s micros".formatted(steps, name(format), part), each);
        });
    double sum = micros.values().stream().mapToDouble(Double::doubleValue).sum();
    out.printf(Locale.ROOT, "    %-20s %10.1f%n", "all", sum);
    out.flush();
  }

  /** Returns the name as typed in a spec. */
  private static String name(PageFormat format) {
    return format.toString();
  }
}
