/** The engine for NVIDIA GPUs, which the service loader finds. */
module dev.kvasir.cuda {
  requires transitive dev.kvasir.core;

  exports dev.kvasir.cuda.driver to
      dev.kvasir.bench;
  exports dev.kvasir.cuda.engine to
      dev.kvasir.bench;
  exports dev.kvasir.cuda.formats to
      dev.kvasir.bench;
  exports dev.kvasir.cuda.formats.commvq to
      dev.kvasir.bench;
  exports dev.kvasir.cuda.formats.mead to
      dev.kvasir.bench;
  exports dev.kvasir.cuda.formats.mixkvq to
      dev.kvasir.bench;
  exports dev.kvasir.cuda.formats.patternkv to
      dev.kvasir.bench;
  exports dev.kvasir.cuda.formats.pmkvq to
      dev.kvasir.bench;
  exports dev.kvasir.cuda.memory to
      dev.kvasir.bench;

  uses dev.kvasir.cuda.formats.PageFormatProvider;

  provides dev.kvasir.cuda.formats.PageFormatProvider with
      dev.kvasir.cuda.formats.Fp16FormatProvider,
      dev.kvasir.cuda.formats.kivi.KiviFormatProvider,
      dev.kvasir.cuda.formats.kivi.KvtunerFormatProvider,
      dev.kvasir.cuda.formats.commvq.CommvqFormatProvider,
      dev.kvasir.cuda.formats.mead.MeadFormatProvider,
      dev.kvasir.cuda.formats.mixkvq.MixkvqFormatProvider,
      dev.kvasir.cuda.formats.patternkv.PatternkvFormatProvider,
      dev.kvasir.cuda.formats.pmkvq.PmkvqFormatProvider;
  provides dev.kvasir.spi.EngineProvider with
      dev.kvasir.cuda.engine.CudaProvider;
}
