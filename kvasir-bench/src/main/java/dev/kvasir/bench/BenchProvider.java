package dev.kvasir.bench;

import dev.kvasir.cli.CommandProvider;
import java.io.PrintStream;

/** Adds {@code kvasir bench} to the command line. */
public final class BenchProvider implements CommandProvider {
  @Override
  public Object command(PrintStream out, PrintStream err) {
    picocli.CommandLine bench = new picocli.CommandLine(new Bench());
    bench.addSubcommand(new ModelBench(out, err));
    bench.addSubcommand(new DecodeBench(out, err));
    bench.addSubcommand(new BatchBench(out, err));
    bench.addSubcommand(new AttentionBench(out, err)).addSubcommand(new StartBench(out, err));
    bench.addSubcommand(new ServeBench(out, err)).addSubcommand(new RestoreBench(out, err));
    bench.addSubcommand(new ShapeBench(out, err)).addSubcommand(new ExpertBench(out, err));
    bench.addSubcommand(new GpuBench(out, err)).addSubcommand(new SpeculateBench(out, err));
    bench.addSubcommand(new NarrowDraftBench(out, err));
    return bench;
  }
}
