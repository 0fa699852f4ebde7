/** What the papers say of their methods, and what came of it here. */
package dev.kvasir.lab.claim;
