/**
 * The engine. Applications use {@code dev.kvasir}; providers of services implement {@code
 * dev.kvasir.spi} in terms of the other packages that are exported to all. The remaining packages
 * are internal, exported to modules of Kvasir only.
 */
module dev.kvasir.core {
  requires dev.kvasir.template;
  requires ai.djl.tokenizers;
  requires com.google.gson;
  requires java.net.http;
  requires jdk.jfr;

  exports dev.kvasir;
  exports dev.kvasir.codec;
  exports dev.kvasir.codec.uniform;
  exports dev.kvasir.error;
  exports dev.kvasir.kernel;
  exports dev.kvasir.memory;
  exports dev.kvasir.page;
  exports dev.kvasir.profile;
  exports dev.kvasir.spi;
  exports dev.kvasir.attention to
      dev.kvasir.bench,
      dev.kvasir.cuda,
      dev.kvasir.lab;
  exports dev.kvasir.cache to
      dev.kvasir.bench,
      dev.kvasir.cli,
      dev.kvasir.cuda,
      dev.kvasir.lab,
      dev.kvasir.server,
      dev.kvasir.store;
  exports dev.kvasir.chat to
      dev.kvasir.server,
      dev.kvasir.telemetry;
  exports dev.kvasir.chat.syntax to
      dev.kvasir.server;
  exports dev.kvasir.choice to
      dev.kvasir.cli;
  exports dev.kvasir.codec.basis to
      dev.kvasir.cuda,
      dev.kvasir.lab,
      dev.kvasir.methods;
  exports dev.kvasir.codec.commvq to
      dev.kvasir.bench,
      dev.kvasir.cli,
      dev.kvasir.cuda,
      dev.kvasir.lab;
  exports dev.kvasir.codec.kivi to
      dev.kvasir.cuda,
      dev.kvasir.methods;
  exports dev.kvasir.codec.latent to
      dev.kvasir.cuda;
  exports dev.kvasir.codec.mead to
      dev.kvasir.bench,
      dev.kvasir.cli,
      dev.kvasir.cuda,
      dev.kvasir.lab;
  exports dev.kvasir.codec.mixkvq to
      dev.kvasir.cli,
      dev.kvasir.cuda,
      dev.kvasir.lab;
  exports dev.kvasir.codec.patternkv to
      dev.kvasir.cuda,
      dev.kvasir.lab;
  exports dev.kvasir.codec.pmkvq to
      dev.kvasir.bench,
      dev.kvasir.cuda,
      dev.kvasir.lab;
  exports dev.kvasir.engine to
      dev.kvasir.bench,
      dev.kvasir.cli,
      dev.kvasir.cuda,
      dev.kvasir.lab,
      dev.kvasir.server,
      dev.kvasir.store;
  exports dev.kvasir.format to
      dev.kvasir.bench,
      dev.kvasir.cli,
      dev.kvasir.cuda,
      dev.kvasir.lab,
      dev.kvasir.natives,
      dev.kvasir.server,
      dev.kvasir.store;
  exports dev.kvasir.grammar to
      dev.kvasir.server;
  exports dev.kvasir.hub to
      dev.kvasir.cli;
  exports dev.kvasir.model to
      dev.kvasir.bench,
      dev.kvasir.cli,
      dev.kvasir.cuda,
      dev.kvasir.lab,
      dev.kvasir.server;
  exports dev.kvasir.runtime to
      dev.kvasir.bench,
      dev.kvasir.cli,
      dev.kvasir.lab,
      dev.kvasir.server,
      dev.kvasir.spark,
      dev.kvasir.store;
  exports dev.kvasir.sampling to
      dev.kvasir.bench,
      dev.kvasir.lab;
  exports dev.kvasir.stored to
      dev.kvasir.cli,
      dev.kvasir.lab,
      dev.kvasir.server,
      dev.kvasir.store;
  exports dev.kvasir.text to
      dev.kvasir.bench,
      dev.kvasir.cli,
      dev.kvasir.lab,
      dev.kvasir.server;

  opens dev.kvasir.cache to
      com.google.gson;

  uses dev.kvasir.memory.MappingGuard;
  uses dev.kvasir.spi.BundledModel;
  uses dev.kvasir.spi.EngineProvider;
  uses dev.kvasir.spi.KernelProvider;
  uses dev.kvasir.spi.PrefixStoreProvider;
  uses dev.kvasir.spi.QuantizationMethod;

  provides dev.kvasir.spi.QuantizationMethod with
      dev.kvasir.codec.dense.DenseMethod,
      dev.kvasir.codec.kivi.KiviMethod,
      dev.kvasir.codec.patternkv.PatternkvMethod,
      dev.kvasir.codec.mixkvq.MixkvqMethod,
      dev.kvasir.codec.pmkvq.PmkvqMethod,
      dev.kvasir.codec.commvq.CommvqMethod,
      dev.kvasir.codec.mead.MeadMethod;
}
