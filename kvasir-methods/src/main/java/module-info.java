/** Published methods that the methods of the core are compared with. */
module dev.kvasir.methods {
  requires transitive dev.kvasir.core;

  exports dev.kvasir.methods.oscar to
      dev.kvasir.lab;
  exports dev.kvasir.methods.rotatekv to
      dev.kvasir.lab;
  exports dev.kvasir.methods.vqllm to
      dev.kvasir.lab;

  provides dev.kvasir.spi.QuantizationMethod with
      dev.kvasir.methods.vqllm.VqllmMethod,
      dev.kvasir.methods.ott.OttMethod,
      dev.kvasir.methods.zipcache.ZipcacheMethod,
      dev.kvasir.methods.mikv.MikvMethod,
      dev.kvasir.methods.skvq.SkvqMethod,
      dev.kvasir.methods.kvquant.KvquantMethod,
      dev.kvasir.methods.kvtuner.KvtunerMethod,
      dev.kvasir.methods.quarot.QuarotMethod,
      dev.kvasir.methods.turboquant.TurboquantMethod,
      dev.kvasir.methods.rotatekv.RotatekvMethod,
      dev.kvasir.methods.qserve.QserveMethod,
      dev.kvasir.methods.kvarn.KvarnMethod,
      dev.kvasir.methods.oscar.OscarMethod;
}
