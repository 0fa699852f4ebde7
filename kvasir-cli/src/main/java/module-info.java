/** The command {@code kvasir}. */
module dev.kvasir.cli {
  requires dev.kvasir.core;
  requires dev.kvasir.lab;
  requires dev.kvasir.server;
  requires dev.kvasir.store;
  requires com.google.gson;
  requires info.picocli;
  requires org.jline;

  exports dev.kvasir.cli to
      dev.kvasir.bench;
  exports dev.kvasir.cli.arguments to
      dev.kvasir.bench;
  exports dev.kvasir.cli.origin to
      dev.kvasir.bench;
  exports dev.kvasir.cli.serve to
      dev.kvasir.bench;
  exports dev.kvasir.cli.terminal to
      dev.kvasir.bench;

  opens dev.kvasir.cli to
      info.picocli;
  opens dev.kvasir.cli.arguments to
      info.picocli;
  opens dev.kvasir.cli.batch to
      info.picocli;
  opens dev.kvasir.cli.lab to
      info.picocli;
  opens dev.kvasir.cli.models to
      info.picocli;
  opens dev.kvasir.cli.origin to
      info.picocli;
  opens dev.kvasir.cli.run to
      info.picocli;
  opens dev.kvasir.cli.serve to
      info.picocli;
  opens dev.kvasir.cli.session to
      info.picocli;
  opens dev.kvasir.cli.setup to
      info.picocli;
  opens dev.kvasir.cli.terminal to
      info.picocli;

  uses dev.kvasir.cli.CommandProvider;
  uses dev.kvasir.lab.work.RunnerProvider;
}
