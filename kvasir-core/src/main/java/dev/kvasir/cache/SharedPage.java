package dev.kvasir.cache;

import dev.kvasir.codec.Page;

/** A page and how many sequences hold it. */
record SharedPage(Page page, Holders holders) {
  static SharedPage of(Page page) {
    return new SharedPage(page, new Holders());
  }

  SharedPage share() {
    holders.add();
    return this;
  }

  void release() {
    if (holders.remove()) {
      page.close();
    }
  }
}
