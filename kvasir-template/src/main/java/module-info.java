/** Jinja templates, as chat models use them. */
module dev.kvasir.template {
  exports dev.kvasir.template to
      dev.kvasir.core;
}
