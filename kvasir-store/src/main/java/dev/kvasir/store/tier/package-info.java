/** What a tier of a store is, and what its callers say to it. */
package dev.kvasir.store.tier;
