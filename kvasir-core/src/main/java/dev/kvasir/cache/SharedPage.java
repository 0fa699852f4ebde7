package dev.kvasir.cache;

import dev.kvasir.codec.Page;

/** A page with its reference count. */
record SharedPage(Page page, RefCount refCount) {
  static SharedPage of(Page page) {
    return new SharedPage(page, new RefCount());
  }

  SharedPage share() {
    refCount.retain();
    return this;
  }

  void release() {
    if (refCount.release()) {
      page.close();
    }
  }
}
